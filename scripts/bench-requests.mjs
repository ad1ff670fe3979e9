// Measures how many requests a second the pages and the list call take, with wrk: 4 connections, the CPU time of the server for each
// request (which other processes change little), and the median time with one connection. The project has 50 jobs and 60 days of
// page views. Prints results beside the targets; it never fails on them. Given several binaries, it measures them by turns.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const JOBS = 50;
const DAYS = 60;
const ROUNDS = Number(process.env.ROUNDS ?? 1);
const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const PLENTY = "10000000";
const PASSWORD = "bench-bench-bench";
const AIM_P50 = 3;
const TARGETS = [
  { name: "list of 50 jobs", path: "/p/bench/jobs", aim: 1000 },
  { name: "list of 50, brotli", path: "/p/bench/jobs", headers: { "accept-encoding": "gzip, deflate, br" } },
  { name: "overview", path: "/p/bench", aim: 600 },
  { name: "analytics", path: "/p/bench/analytics", aim: 600 },
  { name: "/api/jobs/list", path: "/api/jobs/list", form: { project: "bench" }, aim: 1500 },
];

if (spawnSync("wrk", ["-v"]).error) {
  console.log("requests a second       not measured: there is no wrk");
  process.exit();
}
const binaries = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "docket-bench-"));
const children = [];
try {
  const emulator = start(binaries[0], ["emulator", "--addr", "127.0.0.1:0", "--per-hour", PLENTY], directory, {});
  const [, upstream, key] = await emulator.says(/Base address +(\S+)\n +Key +(\S+)\n/);
  const settings = { DOCKET_UPSTREAM_URL: upstream, DOCKET_API_KEY: key, DOCKET_ADMIN_PASSWORD: PASSWORD };
  await fill(settings);
  const panels = [];
  for (const [n, binary] of binaries.entries()) {
    const copy = join(directory, `panel-${n}`);
    cpSync(join(directory, "filled"), copy, { recursive: true });
    // Without the daily history, which would go on fetching.
    const panel = start(binary, ["serve"], copy, { ...environment(copy, settings), DOCKET_ANALYTICS_RESERVE: PLENTY });
    const [, url] = await panel.says(/"listening".*"public_url":"([^"]+)"/);
    panels.push({ panel, url, cookie: await signIn(url), results: TARGETS.map(() => ({ rates: [], medians: [], costs: [] })) });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, target] of TARGETS.entries()) {
      for (const { panel, url, cookie, results } of panels) {
        wrk(target, url, cookie, 4, 1);
        const before = panel.cpu();
        const { rate, requests } = wrk(target, url, cookie, 4, SECONDS);
        results[at].costs.push((panel.cpu() - before) / requests);
        results[at].rates.push(rate);
        results[at].medians.push(wrk(target, url, cookie, 1, SECONDS / 2).median);
      }
    }
  }
  for (const [at, { name, aim }] of TARGETS.entries()) {
    for (const [n, { results }] of panels.entries()) {
      const which = panels.length > 1 ? ` (${binaries[n].split("/").at(-1)})` : "";
      const aims = aim ? `   (aim ${aim}/s, ${AIM_P50} ms)` : "";
      const [rate, p50, cost] = ["rates", "medians", "costs"].map((key) => middle(results[at][key]));
      console.log(`${name.padEnd(22)}  ${rate.toFixed(0)} requests/s with 4 connections, ${cost.toFixed(2)} ms of CPU each, p50 ${p50.toFixed(2)} ms with one${which}${aims}`);
    }
  }
  for (const [n, { panel }] of panels.entries()) {
    if (panels.length > 1) console.log(`memory afterwards       ${panel.memory()} (${binaries[n].split("/").at(-1)})`);
  }
} finally {
  await Promise.all(children.map(({ stop }) => stop()));
  rmSync(directory, { recursive: true, force: true });
}

/** Makes the jobs and has the days fetched, into the folder `filled`. */
async function fill(settings) {
  const folder = join(directory, "filled");
  mkdirSync(folder);
  const panel = start(binaries[0], ["serve"], folder, environment(folder, settings));
  const [, url] = await panel.says(/"listening".*"public_url":"([^"]+)"/);
  const cookie = await signIn(url);
  for (let n = 0; n < JOBS; n++) {
    const prompt = `Check guide ${n} against the current SDK.\n\n${"Fix every step that no longer works, and say in the pull request why. ".repeat(3)}`;
    await ask(`${url}/api/jobs/create`, post(url, { project: "bench", prompt, intent: `bench-${n}`, paths: `/guides/part-${n}` }, cookie));
  }
  for (let tries = 0; tries < 300; tries++) {
    const { days_done } = JSON.parse((await ask(`${url}/api/history/state`, post(url, { project: "bench" }, cookie))).text);
    const { counts } = JSON.parse((await ask(`${url}/api/jobs/list`, post(url, { project: "bench" }, cookie))).text);
    if (days_done >= DAYS && !counts.active && !counts.queued && !counts.sending) break;
    await sleep(500);
  }
  await panel.stop();
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
    DOCKET_LOG_FORMAT: "json",
  };
}

/** Requests a second, and the median time in ms. */
function wrk({ path, form, headers = {} }, url, cookie, connections, seconds) {
  const request = form ? post(url, form, cookie) : { method: "GET", headers: { cookie } };
  const script = join(directory, "request.lua");
  const lines = Object.entries({ ...request.headers, ...headers }).map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  // wrk reports statuses above 399 as errors.
  writeFileSync(script, `wrk.method = "${request.method}"\nwrk.body = ${request.body ? JSON.stringify(request.body) : "nil"}\n${lines.join("\n")}\n`);
  const said = execFileSync("wrk", ["-t1", `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`, "--latency", "-s", script, `${url}${path}`], { encoding: "utf8" });
  if (/Non-2xx/.test(said)) throw new Error(`${path}: ${said}`);
  const [, median, unit] = /50%\s+([\d.]+)(us|ms|s)/.exec(said);
  return { requests: Number(/(\d+) requests in/.exec(said)[1]), rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(said)[1]), median: Number(median) * { us: 0.001, ms: 1, s: 1000 }[unit] };
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

function ask(url, { method, headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("end", () =>
        response.statusCode === 200 ? resolve({ headers: response.headers, text }) : reject(new Error(`${url} answered ${response.statusCode}: ${text}`)),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

function start(binary, args, folder, environment) {
  const child = spawn(binary, args, { cwd: folder, env: { PATH: process.env.PATH, ...environment } });
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
    /** Milliseconds of CPU so far, at the usual 100 ticks a second. */
    cpu() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    memory() {
      return /^VmRSS:\s+(.*)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1];
    },
    stop() {
      child.kill("SIGTERM");
      return gone;
    },
  };
  children.push(running);
  return running;
}

function middle(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
