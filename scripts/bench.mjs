// Measurements for bench.sh: starts the given binary with an upstream that does not exist, since neither
// the start nor a page may wait for it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { median, quantile } from "./bench/docket.mjs";

const STARTS = 10;
const REQUESTS = 300;
const START_DEADLINE_MS = 15_000;
const AIM_START_MS = 200;
const AIM_MEMORY_MB = 30;

const binary = process.argv[2];
const starts = [];
const resident = [];
const own = [];
let pages = [];

for (let run = 0; run < STARTS; run++) {
  const server = await start();
  try {
    starts.push(server.readyAfterMs);
    if (run === STARTS - 1) pages = await measurePage(server.port, "/login");
    // The first administrator's password is hashed during the start.
    else await sleep(3_000);
    resident.push(megabytes(server.process.pid, "VmRSS"));
    own.push(megabytes(server.process.pid, "RssAnon"));
  } finally {
    await stop(server);
  }
}

console.log(`start to first answer   ${median(starts).toFixed(0)} ms   (aim ${AIM_START_MS} ms; ${STARTS} runs, new database, slowest ${Math.max(...starts).toFixed(0)} ms)`);
console.log(`memory when idle        ${median(resident.slice(0, -1)).toFixed(1)} MB   (aim ${AIM_MEMORY_MB} MB; ${median(own.slice(0, -1)).toFixed(1)} without the code; after ${REQUESTS} pages ${resident.at(-1).toFixed(1)} MB)`);
console.log(`page /login             ${quantile(pages, 0.5).toFixed(1)} ms, 95th percentile ${quantile(pages, 0.95).toFixed(1)} ms   (${REQUESTS} requests, one after the other)`);

async function start() {
  const directory = mkdtempSync(join(tmpdir(), "docket-bench-"));
  const port = await freePort();
  const began = performance.now();
  const child = spawn(binary, ["serve"], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env.PATH,
      DOCKET_ADDR: `127.0.0.1:${port}`,
      DOCKET_UPSTREAM_URL: "http://127.0.0.1:9",
      DOCKET_API_KEY: "mint_of_the_bench",
      DOCKET_PROJECTS: "bench=Bench",
      DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
      DOCKET_ADMIN_PASSWORD: "a bench of unrelated words",
      DOCKET_LOG: "error",
    },
  });
  let complaint = "";
  child.stderr.on("data", (chunk) => (complaint += chunk));
  while (true) {
    if (child.exitCode !== null) throw new Error(`docket stopped with exit code ${child.exitCode}: ${complaint}`);
    if (performance.now() - began > START_DEADLINE_MS) {
      child.kill("SIGKILL");
      throw new Error("docket did not answer in time");
    }
    if ((await get(port, "/healthz")) === 200) break;
    await sleep(1);
  }
  return { process: child, port, directory, readyAfterMs: performance.now() - began };
}

async function stop({ process: child, directory }) {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
  rmSync(directory, { recursive: true, force: true });
}

async function measurePage(port, path) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const times = [];
  for (let i = 0; i < REQUESTS; i++) {
    const began = performance.now();
    const status = await get(port, path, agent);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times;
}

/** The status of the response, after reading its body; 0 if there was none. */
function get(port, path, agent) {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path, agent }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    request.on("error", () => resolve(0));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function megabytes(pid, field) {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1];
  return (Number(kilobytes) * 1024) / 1e6;
}
