// Measures the requests per second of the pages, of the list call and of the JSON API with wrk: 4 or 8 connections, the CPU time of the server for each
// request (which hardly depends on other processes), and the median time with one connection. The project has 50 jobs and 60 days of
// page views. Prints results beside the targets, and does not fail if they are missed. Several binaries are measured alternately.

import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { PASSWORD, PLENTY, fetchOk, median, post, signIn, withProcesses } from "./bench/docket.mjs";
import { addTokens } from "./bench/tokens.mjs";

const JOBS = 50;
const DAYS = 60;
const ROUNDS = Number(process.env.ROUNDS ?? 1);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const AIM_P50 = 3;
/** Enough for 60 requests a minute of each. */
const TOKENS = 3_000;
const TARGETS = [
  { name: "list of 50 jobs", path: "/p/bench/jobs", aim: 1000 },
  { name: "list of 50, gzip", path: "/p/bench/jobs", headers: { "accept-encoding": "gzip, deflate, br" } },
  { name: "overview", path: "/p/bench", aim: 600 },
  { name: "analytics", path: "/p/bench/analytics", aim: 600 },
  { name: "/api/jobs/list", path: "/api/jobs/list", form: { project: "bench" }, aim: 1500 },
  { name: "/api/v1, list of 50", path: "/api/v1/projects/bench/jobs", usesTokens: true, connections: 8, aim: 2500 },
];

if (spawnSync("wrk", ["-v"]).error) {
  console.log("requests a second       not measured: there is no wrk");
  process.exit();
}
const binaries = process.argv.slice(2);
await withProcesses(async ({ directory, start }) => {
  const emulator = start(binaries[0], ["emulator", "--addr", "127.0.0.1:0", "--projects", "bench", "--per-hour", PLENTY]);
  const { url: upstream, key } = await emulator.upstream();
  const settings = { DOCKET_UPSTREAM_URL: upstream, DOCKET_API_KEY: key, DOCKET_ADMIN_PASSWORD: PASSWORD };
  const filled = join(directory, "filled");
  mkdirSync(filled);
  await fill(start(binaries[0], ["serve"], environment(filled, settings)));
  const tokens = addTokens(join(filled, "docket.db"), TOKENS * ROUNDS);
  const servers = [];
  for (const [n, binary] of binaries.entries()) {
    const copy = join(directory, `server-${n}`);
    cpSync(filled, copy, { recursive: true });
    // Without the daily history, which would continue to fetch.
    const server = start(binary, ["serve"], { ...environment(copy, settings), DOCKET_ANALYTICS_RESERVE: PLENTY });
    const url = await server.url();
    servers.push({ server, url, cookie: await signIn(url), results: TARGETS.map(() => ({ rates: [], medians: [], costs: [] })) });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, target] of TARGETS.entries()) {
      for (const { server, url, cookie, results } of servers) {
        const { connections = 4 } = target;
        const caller = target.usesTokens ? { tokens: tokens.slice(round * TOKENS, (round + 1) * TOKENS) } : { cookie };
        await wrk(directory, target, url, caller, connections, 1);
        const before = server.cpu();
        const { rate, requests } = await wrk(directory, target, url, caller, connections, SECONDS);
        results[at].costs.push((server.cpu() - before) / requests);
        results[at].rates.push(rate);
        results[at].medians.push((await wrk(directory, target, url, caller, 1, SECONDS / 2)).median);
      }
    }
  }
  for (const [at, { name, aim, connections = 4 }] of TARGETS.entries()) {
    for (const [n, { results }] of servers.entries()) {
      const which = servers.length > 1 ? ` (${binaries[n].split("/").at(-1)})` : "";
      const aims = aim ? `   (aim ${aim}/s, ${AIM_P50} ms)` : "";
      const [rate, p50, cost] = ["rates", "medians", "costs"].map((key) => median(results[at][key]));
      console.log(`${name.padEnd(22)}  ${rate.toFixed(0)} requests/s with ${connections} connections, ${cost.toFixed(2)} ms of CPU each, p50 ${p50.toFixed(2)} ms with one${which}${aims}`);
    }
  }
  for (const [n, { server }] of servers.entries()) {
    if (servers.length > 1) console.log(`memory afterwards       ${server.memory().toFixed(1)} MB (${binaries[n].split("/").at(-1)})`);
  }
});

/** Creates the jobs, waits for the page views of all days, and stops `server`. */
async function fill(server) {
  const url = await server.url();
  const cookie = await signIn(url);
  for (let n = 0; n < JOBS; n++) {
    const prompt = `Check guide ${n} against the current SDK.\n\n${"Fix every step that no longer works, and say in the pull request why. ".repeat(3)}`;
    await fetchOk(`${url}/api/jobs/create`, post(url, { project: "bench", prompt, intent: `bench-${n}`, paths: `/guides/part-${n}` }, cookie));
  }
  for (let tries = 0; tries < 300; tries++) {
    const { days_done } = JSON.parse((await fetchOk(`${url}/api/history/state`, post(url, { project: "bench" }, cookie))).text);
    const { counts } = JSON.parse((await fetchOk(`${url}/api/jobs/list`, post(url, { project: "bench" }, cookie))).text);
    if (days_done >= DAYS && !counts.active && !counts.queued && !counts.sending) break;
    await sleep(500);
  }
  await server.stop();
}

function environment(folder, settings) {
  return {
    ...settings,
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_PROJECTS: "bench=Bench",
    DOCKET_DATABASE_URL: `sqlite://${folder}/docket.db`,
    DOCKET_AGENT_PER_HOUR: PLENTY,
    DOCKET_ANALYTICS_PER_HOUR: PLENTY,
    DOCKET_HISTORY_DAYS: String(DAYS),
    DOCKET_HISTORY_BEFORE: "0",
    DOCKET_LOG_FORMAT: "json",
  };
}

/** Requests a second, and the median time in ms, with the cookie or with one token after another. Reads the log of the server meanwhile: a full pipe would block the server. */
async function wrk(directory, { path, form, headers = {} }, url, { cookie, tokens = [] }, connections, seconds) {
  const request = form ? post(url, form, cookie) : { method: "GET", headers: cookie ? { cookie } : {} };
  const script = join(directory, "request.lua");
  const lines = Object.entries({ ...request.headers, ...headers }).map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  if (tokens.length > 0) {
    lines.push(`local tokens, n = {${tokens.map((token) => JSON.stringify(token)).join(",")}}, ${Math.floor(Math.random() * tokens.length)}`);
    lines.push('function request() n = n % #tokens + 1; wrk.headers["authorization"] = "Bearer " .. tokens[n]; return wrk.format() end');
  }
  // wrk reports statuses above 399 as errors.
  writeFileSync(script, `wrk.method = "${request.method}"\nwrk.body = ${request.body ? JSON.stringify(request.body) : "nil"}\n${lines.join("\n")}\n`);
  const { stdout: output } = await promisify(execFile)("wrk", ["-t1", `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`, "--latency", "-s", script, `${url}${path}`]);
  if (/Non-2xx/.test(output)) throw new Error(`${path}: ${output}`);
  const [, median, unit] = /50%\s+([\d.]+)(us|ms|s)/.exec(output);
  return { requests: Number(/(\d+) requests in/.exec(output)[1]), rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)[1]), median: Number(median) * { us: 0.001, ms: 1, s: 1000 }[unit] };
}
