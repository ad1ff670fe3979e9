// Measures the overhead of Docket on one upstream call: the same queries to the emulator directly and through Docket, at a steady
// rate, alternating within one run. Every query is different, so that none is answered from the cache.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const RATE = 200;
const SECONDS_A_TURN = 5;
const TURNS = 3;
const PLENTY = "10000000";
const PASSWORD = "bench-bench-bench";

const binary = process.argv[2];
const directory = mkdtempSync(join(tmpdir(), "docket-bench-"));
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const children = [];
let asked = 0;

try {
  const emulator = start(["emulator", "--addr", "127.0.0.1:0", "--per-hour", PLENTY], {});
  const [, upstream, key] = await emulator.says(/Base address +(\S+)\n +Key +(\S+)\n/);
  const panel = start(["serve"], {
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_UPSTREAM_URL: upstream,
    DOCKET_API_KEY: key,
    DOCKET_PROJECTS: "bench=Bench",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_ANALYTICS_PER_HOUR: PLENTY,
    // Disables the daily history.
    DOCKET_ANALYTICS_RESERVE: PLENTY,
    DOCKET_LOG_FORMAT: "json",
  });
  const [, url] = await panel.says(/"listening".*"public_url":"([^"]+)"/);
  const cookie = await signIn(url);

  const direct = () =>
    ask(`${upstream}/v1/analytics/bench/views?dateFrom=2026-01-01&dateTo=2026-01-29&limit=1&offset=${asked++ % 600}`, {
      headers: { authorization: `Bearer ${key}` },
    });
  const through = () =>
    ask(`${url}/api/analytics/views`, post(url, { project: "bench", limit: 1, offset: asked++ }, cookie));

  await turn(direct);
  await turn(through);
  const times = { direct: [], through: [] };
  for (let n = 0; n < TURNS; n++) {
    times.direct.push(...(await turn(direct)));
    times.through.push(...(await turn(through)));
  }
  for (const [name, share, aim] of [["p50", 0.5, 1], ["p99", 0.99, 3]]) {
    const [alone, panelled] = [quantile(times.direct, share), quantile(times.through, share)];
    console.log(
      `upstream call, ${name}      ${(panelled - alone).toFixed(2)} ms added by Docket   (aim ${aim} ms; ${alone.toFixed(2)} ms directly, ${panelled.toFixed(2)} ms through it, ${(panelled / alone).toFixed(1)} times; ${times.through.length} calls at ${RATE} a second)`,
    );
  }
} finally {
  agent.destroy();
  await Promise.all(children.map(({ stop }) => stop()));
  rmSync(directory, { recursive: true, force: true });
}

/** The milliseconds of each request of one turn, sent at a steady rate independent of the answers. */
async function turn(request) {
  const began = performance.now();
  const answers = [];
  for (let n = 0; n < RATE * SECONDS_A_TURN; n++) {
    const due = began + (n * 1000) / RATE;
    if (due > performance.now()) await sleep(due - performance.now());
    const sent = performance.now();
    answers.push(request().then(() => performance.now() - sent));
  }
  return Promise.all(answers);
}

async function signIn(url) {
  const answer = await ask(`${url}/api/session/login`, post(url, { username: "admin", password: PASSWORD }));
  return answer.headers["set-cookie"][0].split(";")[0];
}

function post(origin, fields, cookie = "") {
  const body = new URLSearchParams(fields).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json", origin, cookie };
  return { method: "POST", body, headers };
}

function ask(url, { method = "GET", headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200 ? resolve(response) : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

function start(args, environment) {
  const child = spawn(binary, args, { cwd: directory, env: { PATH: process.env.PATH, ...environment } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const running = {
    async says(pattern) {
      for (let tries = 0; tries < 2000; tries++) {
        const found = pattern.exec(output);
        if (found) return found;
        if (child.exitCode !== null) break;
        await sleep(5);
      }
      throw new Error(`docket ${args[0]} does not print ${pattern}: ${output}`);
    },
    stop() {
      child.kill("SIGTERM");
      return gone;
    },
  };
  children.push(running);
  return running;
}

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
