// Shared by the benchmarks, the soak and the attack: a directory with running processes of the binary, requests to them, and quantiles.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** More calls an hour than any benchmark makes. */
export const PLENTY = "10000000";
export const PASSWORD = "a bench of unrelated words";

/** Calls `action` with a new directory and a function that starts a process in it. Stops them all afterwards. */
export async function withProcesses(action) {
  const directory = mkdtempSync(join(tmpdir(), "docket-bench-"));
  const processes = [];
  const start = (binary, args, environment = {}) => {
    const started = new Process(binary, args, directory, environment);
    processes.push(started);
    return started;
  };
  try {
    await action({ directory, start });
  } finally {
    await Promise.all(processes.map((process) => process.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

class Process {
  #child;
  #command;
  #output = "";
  #gone;

  constructor(binary, args, directory, environment) {
    this.#command = args[0];
    const { PATH, HOME } = process.env;
    this.#child = spawn(binary, args, { cwd: directory, env: { PATH, HOME, ...environment } });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (this.#output += text));
    }
    this.#gone = new Promise((resolve) => this.#child.once("exit", resolve));
  }

  /** The match of `pattern` in the output of the process. */
  printed(pattern) {
    return this.until(`docket ${this.#command} prints ${pattern}`, () => pattern.exec(this.#output));
  }

  /** The URL of a server. */
  async url() {
    const [, url] = await this.printed(/"listening".*"public_url":"([^"]+)"/);
    return url;
  }

  /** The base URL and the key of an emulator. */
  async upstream() {
    const [, url, key] = await this.printed(/Base address +(\S+)\n +Key +(\S+)\n/);
    return { url, key };
  }

  /** The first true result of `probe`. Fails after 20 s, and when the process ends. */
  async until(what, probe) {
    for (let tries = 0; tries < 4000; tries++) {
      const found = await probe();
      if (found) return found;
      if (this.#child.exitCode !== null) break;
      await sleep(5);
    }
    // The last output arrives after the end of the process.
    await sleep(50);
    const late = await probe();
    if (late) return late;
    throw new Error(`timed out waiting until ${what}: ${this.#output}`);
  }

  /** Milliseconds of CPU so far, at the usual 100 ticks a second. */
  cpu() {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** Resident megabytes, now (`VmRSS`) or at most so far (`VmHWM`). */
  memory(kind = "VmRSS") {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return (Number(new RegExp(`^${kind}:\\s+(\\d+)`, "m").exec(status)[1]) * 1024) / 1e6;
  }

  threads() {
    return Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8"))[1]);
  }

  /** How many files it has open, and how many of them are connections and other sockets. */
  descriptors() {
    const folder = `/proc/${this.#child.pid}/fd`;
    const kinds = readdirSync(folder).map((name) => {
      try {
        return readlinkSync(`${folder}/${name}`);
      } catch {
        // Closed meanwhile.
        return "";
      }
    });
    return { files: kinds.length, connections: kinds.filter((kind) => kind.startsWith("socket:")).length };
  }

  /** Writes to its standard input, and ends that. */
  write(text) {
    this.#child.stdin.end(text);
  }

  stop() {
    if (this.#child.exitCode !== null) return undefined;
    this.#child.kill("SIGTERM");
    return this.#gone;
  }
}

/** Signs in, by default as the administrator. Returns the cookie. */
export async function signIn(url, username = "admin", { agent, address } = {}) {
  const options = post(url, { username, password: PASSWORD });
  if (address) options.headers["x-forwarded-for"] = address;
  const { headers } = await fetchOk(`${url}/api/session/login`, { ...options, agent });
  return headers["set-cookie"].map((cookie) => cookie.split(";")[0]).join("; ");
}

/** The request of a server function with `fields`, for `fetchOk`. */
export function post(origin, fields, cookie = "") {
  const body = new URLSearchParams(fields).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json", origin, cookie };
  return { method: "POST", body, headers };
}

/** The headers and the text of the response; fails unless its status is 200. */
export async function fetchOk(url, options) {
  const answer = await send(url, options);
  if (answer.status !== 200) throw new Error(`${url} responded with ${answer.status}: ${answer.text}`);
  return answer;
}

/** The status, the headers and the text of the response. */
export function send(url, { method = "GET", headers, body, agent, localAddress } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent, localAddress }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

export function median(values) {
  return quantile(values, 0.5);
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
