"""Where a request comes from."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network


def address_of(remote: str, forwarded: str, *, proxies: int) -> str:
    """Of the person, as far as proxies that are trusted say so; of IPv6 only the network.

    Examples
    --------
    >>> address_of("10.0.0.1", "203.0.113.9, 198.51.100.7", proxies=1)
    '198.51.100.7'
    >>> address_of("2001:db8::17", "", proxies=0), address_of("?", "", proxies=0)
    ('2001:db8::', '')
    """
    hops = [hop.strip() for hop in forwarded.split(",")]
    text = hops[-proxies] if proxies and len(hops) >= proxies else remote
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False).network_address)
    return str(getattr(address, "ipv4_mapped", None) or address)
