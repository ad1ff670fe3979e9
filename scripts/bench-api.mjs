// Measures the limits of the JSON API: the memory of 500 requests that wait for a job, and how much a flood on one token delays the requests with
// other tokens. Prints results beside the targets, and does not fail if they are missed.
import { spawn, spawnSync } from "node:child_process";
import http from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { PASSWORD, PLENTY, fetchOk, quantile, send, withProcesses } from "./bench/docket.mjs";
import { addTokens } from "./bench/tokens.mjs";

const WAITING = 500;
const AIM_WAITING_MB = 20;
const REQUESTS = 1_000;
const FLOOD_CONNECTIONS = 8;
const AIM_RATIO = 2;
const JOBS = "/api/v1/projects/bench/jobs";

if (spawnSync("wrk", ["-v"]).error) {
  console.log("limits of /api/v1       not measured: there is no wrk");
  process.exit();
}
await withProcesses(async ({ directory, start }) => {
  const binary = process.argv[2];
  const emulator = start(binary, ["emulator", "--addr", "127.0.0.1:0", "--projects", "bench", "--per-hour", PLENTY]);
  const { url: upstream, key } = await emulator.upstream();
  const server = start(binary, ["serve"], {
    DOCKET_UPSTREAM_URL: upstream,
    DOCKET_API_KEY: key,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_PROJECTS: "bench=Bench",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    // The second prompt is queued, so that it does not end.
    DOCKET_AGENT_PER_HOUR: "1",
    DOCKET_HISTORY_DAYS: "1",
    DOCKET_HISTORY_BEFORE: "0",
    DOCKET_LOG_FORMAT: "json",
  });
  const url = await server.url();
  const tokens = addTokens(`${directory}/docket.db`, 300);
  let next = 0;
  const token = () => tokens[next++ % tokens.length];
  await startJob(url, token(), "first");
  const job = await startJob(url, token(), "second");

  await delays(url, null, token, 100);
  const alone = await delays(url, null, token, REQUESTS);
  const flooded = await delays(url, tokens.pop(), token, REQUESTS);
  const ratio = flooded / alone;
  console.log(`flood on one token      p95 of other tokens ${flooded.toFixed(1)} ms, ${alone.toFixed(1)} ms without: ${ratio.toFixed(1)} times   (aim ${AIM_RATIO})`);

  const agent = new http.Agent({ keepAlive: true, maxSockets: WAITING });
  const all = (path) => Promise.all(Array.from({ length: WAITING }, () => fetchOk(`${url}${path}`, { headers: bearer(token()), agent })));
  // The memory of as many connections is not that of waiting.
  await all(`${JOBS}/${job}`);
  await sleep(1_000);
  const before = server.memory();
  const waiting = all(`${JOBS}/${job}?wait=10`);
  await sleep(5_000);
  const during = server.memory();
  await waiting;
  agent.destroy();
  console.log(`${WAITING} waiting requests    ${(during - before).toFixed(1)} MB besides their connections   (aim ${AIM_WAITING_MB} MB)`);
});

/** Starts a job, or queues it, and returns its id. */
async function startJob(url, token, prompt) {
  const headers = { ...bearer(token), "content-type": "application/json", "idempotency-key": prompt };
  const { status, text } = await send(`${url}${JOBS}`, { method: "POST", headers, body: JSON.stringify({ prompt, queue: true }) });
  if (status !== 201 && status !== 202) throw new Error(text);
  return JSON.parse(text).id;
}

/** The p95 in ms of `count` requests one after another, while wrk sends requests with the token `flood` as fast as it can. */
async function delays(url, flood, token, count) {
  const agent = new http.Agent({ keepAlive: true });
  const flooding = flood && spawn("wrk", ["-t1", `-c${FLOOD_CONNECTIONS}`, "-d60s", "-H", `Authorization: Bearer ${flood}`, `${url}${JOBS}`]);
  if (flooding) await sleep(500);
  const times = [];
  for (let n = 0; n < count; n++) {
    const begin = performance.now();
    await fetchOk(`${url}${JOBS}`, { headers: bearer(token()), agent });
    times.push(performance.now() - begin);
  }
  flooding?.kill();
  agent.destroy();
  return quantile(times, 0.95);
}

function bearer(token) {
  return { authorization: `Bearer ${token}` };
}
