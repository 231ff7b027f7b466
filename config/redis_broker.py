"""Redis as the queue, for workers that outlive it.

kombu's own transport keeps a place of the worker taken by each message that it could not
acknowledge: a worker all of whose threads were busy when Redis went away never takes another one.
And what ends after the connection was given up is acknowledged on one without a server, which ends
the worker. Here such a message is only done with; Redis may hand it on once more, and a wake-up too
many finds nothing to do.
"""

from __future__ import annotations

import logging

from kombu.transport import redis, virtual

logger = logging.getLogger(__name__)


class QoS(redis.QoS):
    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        except self.channel.connection_errors as error:
            logger.warning("Redis is away: a message may come once more. %s", error)
            virtual.QoS.ack(self, delivery_tag)


class Channel(redis.Channel):
    QoS = QoS

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Of a channel that was given up nothing is left to acknowledge."""
        if not self.closed:
            super().basic_ack(delivery_tag, multiple)


class Transport(redis.Transport):
    Channel = Channel
