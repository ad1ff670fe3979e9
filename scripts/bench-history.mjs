// Measures fetching one day of 1,000 pages for the daily history: calls, time and memory. The upstream is a server in this
// process; it delays its first answer until Docket is idle.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const PAGES = 1_000;
const AIM_CALLS = 4;
const PASSWORD = "bench-bench-bench";

const directory = mkdtempSync(join(tmpdir(), "docket-bench-"));
const asked = [];
let release;
const atRest = new Promise((resolve) => (release = resolve));
const upstream = http.createServer(answer).listen(0, "127.0.0.1");
await new Promise((resolve) => upstream.once("listening", resolve));

let output = "";
const panel = spawn(process.argv[2], ["serve"], {
  cwd: directory,
  stdio: ["ignore", "pipe", "pipe"],
  env: {
    PATH: process.env.PATH,
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_UPSTREAM_URL: `http://127.0.0.1:${upstream.address().port}`,
    DOCKET_API_KEY: "bench",
    DOCKET_PROJECTS: "bench=Bench",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_HISTORY_DAYS: "1",
    DOCKET_LOG_FORMAT: "json",
  },
});
for (const stream of [panel.stdout, panel.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));

try {
  const url = (await until("the panel listens", () => /"listening".*"public_url":"([^"]+)"/.exec(output)))[1];
  const signedIn = await post(url, "session/login", { username: "admin", password: PASSWORD });
  const cookie = signedIn.headers["set-cookie"][0].split(";")[0];
  await until("the history begins", () => asked.length > 0);
  await sleep(500);
  const [before, began] = [memory("VmRSS"), performance.now()];
  release();
  await until("the day is here", async () => {
    const { body } = await post(url, "history/state", { project: "bench" }, cookie);
    return JSON.parse(body).days_done === 1;
  });
  const took = performance.now() - began;
  const pauses = (asked.length - 1) * 100;
  console.log(`day of 1,000 pages      ${asked.length} calls   (must be ${AIM_CALLS})`);
  console.log(
    `day of 1,000 pages      ${took.toFixed(0)} ms, ${pauses} of which are pauses between calls; memory at most ${(memory("VmHWM") - before).toFixed(1)} MB above ${before.toFixed(1)} MB`,
  );
} finally {
  const gone = new Promise((resolve) => panel.once("exit", resolve));
  panel.kill("SIGTERM");
  await gone;
  upstream.close();
  rmSync(directory, { recursive: true, force: true });
}

async function answer(request, response) {
  const query = new URL(request.url, "http://upstream").searchParams;
  const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
  asked.push(offset);
  await atRest;
  const end = Math.min(offset + limit, PAGES);
  const views = [];
  for (let n = offset; n < end; n++) {
    views.push({ path: `/guides/part-${n % 40}/how-to-do-the-thing-number-${n}`, human: 3, ai: 2, total: 5 });
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ totals: { human: 3 * PAGES, ai: 2 * PAGES, total: 5 * PAGES }, views, hasMore: end < PAGES }));
}

async function until(what, probe) {
  for (let tries = 0; tries < 4000; tries++) {
    const found = await probe();
    if (found) return found;
    if (panel.exitCode !== null) break;
    await sleep(5);
  }
  throw new Error(`timed out waiting for ${what}: ${output}`);
}

function post(origin, endpoint, fields, cookie = "") {
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json", origin, cookie };
  return new Promise((resolve, reject) => {
    const request = http.request(`${origin}/api/${endpoint}`, { method: "POST", headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => (body += text));
      response.on("end", () => resolve({ headers: response.headers, body }));
    });
    request.on("error", reject);
    request.end(new URLSearchParams(fields).toString());
  });
}

/** Megabytes, now (`VmRSS`) or at most so far (`VmHWM`). */
function memory(kind) {
  const status = readFileSync(`/proc/${panel.pid}/status`, "utf8");
  return (Number(new RegExp(`^${kind}:\\s+(\\d+)`, "m").exec(status)[1]) * 1024) / 1e6;
}
