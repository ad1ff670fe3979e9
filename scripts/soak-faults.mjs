// Measurements for soak.sh: single things outside fail all the time, and everything else must go on at its usual pace: a receiver of webhooks
// that never responds, a prompt that a firewall refuses, a project without credit, a day and a pull request that cannot be read.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { PASSWORD, PLENTY, post, quantile, send, signIn, withProcesses } from "./bench/docket.mjs";

const REFUSED = "a prompt that a firewall refuses";
const BAD_DAY = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
const DAYS = 20;
const EVERY_MS = 2_000;
/** From a prompt to its acceptance, and from an end to its event, at the 95th percentile. */
const MOST_MS = 15_000;

const [binary, minutes] = [process.argv[2], Number(process.argv[3])];
await withProcesses(async ({ directory, start }) => {
  const emulator = start(binary, ["emulator", "--addr", "127.0.0.1:0", "--per-hour", PLENTY, "--pages", "60", "--code-host"]);
  const { url, key } = await emulator.upstream();
  const faults = { refused: 0, broken: undefined };
  const platform = await listen(http.createServer());
  platform.server.on("request", (request, response) => relay(url, platform.url, faults, request, response));
  const silent = await listen(net.createServer((socket) => socket.on("error", () => {})));
  const events = new Map();
  const good = await listen(http.createServer((request, response) => receive(events, request, response)));
  writeFileSync(join(directory, "token"), key, { mode: 0o600 });
  const server = start(binary, ["serve"], {
    DOCKET_UPSTREAM_URL: platform.url,
    DOCKET_API_KEY: key,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_PROJECTS: "docs=Docs,api=API reference",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    DOCKET_AGENT_PER_HOUR: PLENTY,
    DOCKET_ANALYTICS_PER_HOUR: PLENTY,
    DOCKET_POLL_SECONDS: "2",
    DOCKET_HISTORY_DAYS: String(DAYS),
    DOCKET_WEBHOOK_PRIVATE: "true",
    DOCKET_GITHUB_URL: platform.url,
    DOCKET_GITHUB_TOKEN_FILE: "token",
    DOCKET_LOG_FORMAT: "json",
    DOCKET_LOG: "warn,docket::server::commands=info",
  });
  const docket = await server.url();
  const cookie = await signIn(docket);
  const call = async (path, fields) => {
    const { status, text } = await send(`${docket}${path}`, post(docket, fields, cookie));
    if (status !== 200) throw new Error(`${path} responded ${status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  for (const { url: address } of [silent, good]) await call("/api/webhooks/add", { project: "docs", kind: "json", address });

  const problems = [];
  const jobs = [];
  const start_job = async (project, prompt) => {
    const began = performance.now();
    const job = await call("/api/jobs/create", { project, prompt, intent: crypto.randomUUID(), queue: "on" });
    jobs.push({ project, prompt, id: job.id, began });
  };
  const ends = performance.now() + minutes * 60_000;
  for (let n = 0; performance.now() < ends; n++) {
    if (n % 10 === 0) await start_job("api", `Prompt ${n} of a project without credit`);
    await start_job("docs", n === 3 ? REFUSED : `Prompt ${n} emulator:pull-request`);
    const { status, text } = await send(`${docket}/readyz`);
    if (status !== 200) problems.push(`/readyz responded ${status}: ${text.replaceAll("\n", " ")}`);
    await note(call, jobs, faults);
    await sleep(EVERY_MS);
  }
  process.exitCode = (await report(call, jobs, events, faults, problems)) ? 0 : 1;
  for (const { server: closed } of [platform, silent, good]) closed.close();
  process.exit();
});

async function listen(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

/** Passes a request on to the emulator, unless it is one that fails. */
async function relay(emulator, self, faults, request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const refuse = (status, error) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  if (body.includes(REFUSED)) {
    faults.refused += 1;
    return refuse(403, "The firewall does not allow this request");
  }
  if (request.method === "POST" && request.url.startsWith("/v2/agent/api/")) return refuse(402, "Credit check failed");
  if (request.url.includes("/views") && request.url.includes(`dateFrom=${BAD_DAY}`)) return refuse(500, "This day is broken");
  if (request.url === "/api/graphql" && faults.broken && new RegExp(`number:\\s*${faults.broken}\\b`).test(body)) return refuse(502, "Bad gateway");
  // The relay changes texts, so it must receive plain ones.
  const { host: _, "accept-encoding": _encoding, ...headers } = request.headers;
  const passed = http.request(`${emulator}${request.url}`, { method: request.method, headers }, async (answer) => {
    const parts = [];
    for await (const part of answer) parts.push(part);
    // Pull requests have the address of the relay, so that it can break one of them.
    const text = Buffer.concat(parts).toString().replaceAll(emulator, self);
    const { "content-length": _length, ...rest } = answer.headers;
    response.writeHead(answer.statusCode, rest).end(text);
  });
  passed.on("error", () => response.destroy());
  passed.end(body);
}

async function receive(events, request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  response.end();
  const { type, job } = JSON.parse(Buffer.concat(chunks).toString());
  if (type === "job.completed") events.set(job.id, performance.now());
}

/** Notes what became of the jobs. The first pull request is broken from then on. */
async function note(call, jobs, faults) {
  for (const job of jobs.filter((job) => !job.isOver)) {
    const { state, remote } = await call("/api/jobs/get", { project: job.project, job: job.id });
    if (!job.accepted && remote) job.accepted = performance.now();
    job.state = state;
    if (remote?.pr_link && !faults.broken) [faults.broken] = remote.pr_link.match(/\d+$/);
    if (["completed", "failed", "rejected"].includes(state) && !job.over) job.over = performance.now();
    job.isOver = job.over !== undefined;
  }
}

async function report(call, jobs, events, faults, problems) {
  const docs = jobs.filter(({ project, prompt }) => project === "docs" && prompt !== REFUSED);
  // The last ones may still run.
  const old = docs.filter(({ began }) => performance.now() - began > 60_000);
  const accepted = old.map(({ began, accepted }) => (accepted ?? Infinity) - began);
  const told = old.filter(({ over }) => over && performance.now() - over > 30_000).map(({ id, over }) => (events.get(id) ?? Infinity) - over);
  const refused = jobs.find(({ prompt }) => prompt === REFUSED);
  const history = await call("/api/history/state", { project: "docs" });
  const reviews = await call("/api/pull-requests/reviews", { project: "docs" });
  const rows = [
    ["prompts accepted, p95 ms", quantile(accepted, 0.95), (it) => it < MOST_MS],
    ["events delivered, p95 ms", quantile(told, 0.95), (it) => told.length > 0 && it < MOST_MS],
    ["state of the refused prompt", refused?.state, (it) => it === "rejected"],
    ["times it was sent", faults.refused, (it) => it <= 2],
    ["days of the history", history.days_done, (it) => it === DAYS - 1],
    ["pull requests with a state", JSON.stringify(reviews).match(/"state":/g)?.length ?? 0, (it) => it > 0],
    ["/readyz", problems.length === 0 ? "200" : problems[0], (it) => it === "200"],
  ];
  for (const [name, value, isGood] of rows) console.log(`${isGood(value) ? "ok    " : "WRONG "} ${name.padEnd(38)} ${typeof value === "number" ? value.toFixed(0) : value}`);
  return rows.every(([, value, isGood]) => isGood(value));
}
