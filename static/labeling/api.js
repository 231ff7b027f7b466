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

/**
 * @param {string} url
 * @param {FormData} [body] of a form; without one the page is asked for
 * @returns {Promise<string>} the part of a page that the server answers; anything else is thrown
 */
export async function sendForm(url, body) {
  const headers = { "HX-Request": "true", "X-CSRFToken": csrfToken() };
  const request = { method: body ? "POST" : "GET", body, headers, signal: AbortSignal.timeout(10_000) };
  const { response, text } = await fetch(url, request).then(
    async (reached) => ({ response: reached, text: await reached.text() }),
    (error) => {
      throw new RequestFailed({ kind: "unreachable", message: String(error) });
    },
  );
  const isSignedOut = new URL(response.url).pathname === "/sign-in/";
  if (response.ok && !isSignedOut) return text;
  throw new RequestFailed({ kind: isSignedOut ? "signed-out" : kindOf(response, ""), status: response.status, message: text });
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
