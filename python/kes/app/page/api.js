// Requests to the server. A refusal is an error with the fields that the server names.

export class Refusal extends Error {
  constructor({ message, ...fields }, status) {
    super(message);
    Object.assign(this, fields, { status });
  }
}

async function request(method, path, body, headers) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, { method, body, headers });
  } catch {
    throw new Refusal({ message: "The server does not answer. Is kes app still running?" }, 0);
  }
  const text = await answer.text();
  if (!answer.ok) throw refusal(text, answer.status);
  return JSON.parse(text);
}

function refusal(text, status) {
  try {
    return new Refusal(JSON.parse(text).error, status);
  } catch {
    return new Refusal({ message: text.trim() || `The server refused (${status}).` }, status);
  }
}

const json = { "Content-Type": "application/json" };

export const get = (path) => request("GET", path);
export const post = (path, body = {}) => request("POST", path, JSON.stringify(body), json);
export const put = (path, body = {}) => request("PUT", path, JSON.stringify(body), json);
export const part = encodeURIComponent;

// Send a file; `report` is called with the share that is sent.
export function upload(file, report) {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("PUT", `/api/files/${part(file.name)}`);
    sending.upload.addEventListener("progress", ({ loaded, total }) => report(loaded / total));
    sending.addEventListener("error", () =>
      reject(new Refusal({ message: `${file.name} could not be sent.` }, 0)),
    );
    sending.addEventListener("load", () => {
      if (sending.status === 200) resolve(JSON.parse(sending.responseText));
      else reject(refusal(sending.responseText, sending.status));
    });
    sending.send(file);
  });
}
