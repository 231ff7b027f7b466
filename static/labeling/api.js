// One request to the server, with a time limit, answered in one shape.

const KEEPALIVE_BYTES = 60_000; // browsers refuse more than 64 KiB

export class RequestFailed extends Error {
  /**
   * `kind`: unreachable, signed-out, conflict or refused; `details` as the server gives them.
   *
   * @param {{ kind: string, status?: number, code?: string, message?: string, details?: any }} failure
   */
  constructor({ kind, status = 0, code = "", message = "", details = {} }) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

// The cookie first: signing in again in another tab changes the token of this page.
export function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  return cookie?.[1] ?? document.querySelector('meta[name="csrf-token"]')?.getAttribute("content") ?? "";
}

/**
 * @param {string} method
 * @param {string} url
 * @param {object} [body]
 * @param {{ timeoutMs?: number, leaving?: boolean }} [options]
 * @returns {Promise<any>} what the server answers; anything else is thrown as RequestFailed
 */
export async function send(method, url, body, { timeoutMs = 10_000, leaving = false } = {}) {
  const text = JSON.stringify(body);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  /** @type {RequestInit} */
  const request = {
    method,
    body: text,
    credentials: "same-origin",
    redirect: "manual",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    signal: limit.signal,
    keepalive: leaving && new Blob([text]).size < KEEPALIVE_BYTES,
  };
  try {
    return answer(await attempt(url, request));
  } finally {
    clearTimeout(timer);
  }
}

async function attempt(url, request) {
  try {
    const response = await fetch(url, request);
    return { response, reply: await response.json().catch(() => null) };
  } catch (error) {
    throw new RequestFailed({ kind: "unreachable", message: String(error) });
  }
}

function answer({ response, reply }) {
  if (response.ok && reply) return reply;
  const { code, message, details } = reply ?? {};
  throw new RequestFailed({ kind: kindOf(response, code), status: response.status, code, message, details });
}

function kindOf({ status, type }, code) {
  if (code === "not_an_annotator") return "conflict"; // signed in, but removed from the project
  if (type === "opaqueredirect" || status === 401 || status === 403) return "signed-out";
  if (status === 408 || status === 429 || status >= 500 || status < 400) return "unreachable";
  return status === 409 ? "conflict" : "refused";
}
