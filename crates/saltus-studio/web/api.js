// Talks with the server. The token comes from the part of the address behind `#`, which browsers never send.

const KEY = "saltus-token";

function token() {
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{32}$/.test(given)) {
    sessionStorage.setItem(KEY, given);
    return given;
  }
  return sessionStorage.getItem(KEY) ?? "";
}

/** What the server said no with. */
export class Refused extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.error ?? (typeof body === "string" ? body : `status ${status}`));
    this.status = status;
    this.body = body;
  }
}

/** @param {string} path @param {RequestInit} [options] */
async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { "X-Saltus-Token": token() }, cache: "no-store" });
  if (!response.ok) {
    const text = await response.text();
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      body = text;
    }
    throw new Refused(response.status, body);
  }
  return response;
}

/** @param {string} path @param {Record<string, any>} [parameters] @returns {Promise<any>} */
export async function get(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).map(([k, v]) => [k, String(v)])).toString();
  return (await ask(`/api/${path}${query ? `?${query}` : ""}`)).json();
}

/** @param {string} path @param {Record<string, any>} parameters */
export async function getText(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).map(([k, v]) => [k, String(v)])).toString();
  return (await ask(`/api/${path}?${query}`)).text();
}

/** @param {string} path @param {any} body @returns {Promise<any>} */
export async function post(path, body) {
  return (await ask(`/api/${path}`, { method: "POST", body: JSON.stringify(body) })).json();
}

/** @param {string} path @param {any} body @returns {Promise<Blob>} */
export async function postBlob(path, body) {
  return (await ask(`/api/${path}`, { method: "POST", body: JSON.stringify(body) })).blob();
}

/** Sends the bytes of a file. @param {string} path @param {File} file @returns {Promise<any>} */
export async function postFile(path, file) {
  return (await ask(`/api/${path}?${new URLSearchParams({ name: file.name })}`, { method: "POST", body: file })).json();
}

/**
 * A header in JSON and numbers behind it.
 * @param {string} path @param {any} body @returns {Promise<{header: any, numbers: Float64Array}>}
 */
export async function postNumbers(path, body) {
  const bytes = await (await ask(`/api/${path}`, { method: "POST", body: JSON.stringify(body) })).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  return { header, numbers: new Float64Array(bytes.slice(4 + length)) };
}

/**
 * News of the server for as long as the page is open; after a failure it is tried again.
 * @param {(message: any) => void} heard @param {(isConnected: boolean, why?: Error) => void} connected
 */
export async function listen(heard, connected) {
  for (;;) {
    try {
      const response = await ask("/api/stream");
      const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      connected(true);
      const decoder = new TextDecoder();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        rest += decoder.decode(value, { stream: true });
        const parts = rest.split("\n\n");
        rest = /** @type {string} */ (parts.pop());
        for (const part of parts) if (part.startsWith("data: ")) heard(JSON.parse(part.slice(6)));
      }
      connected(false);
    } catch (error) {
      connected(false, /** @type {Error} */ (error));
    }
    await new Promise((go) => setTimeout(go, 700));
  }
}
