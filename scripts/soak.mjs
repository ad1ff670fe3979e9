// Measurements for soak.sh: people who use one server or several on one database, a platform with faults, and the resources of the
// processes over time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createInterface } from "node:readline";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { PASSWORD, PLENTY, median, post, quantile, send, signIn, withProcesses } from "./bench/docket.mjs";

const PEOPLE = Number(process.env.PEOPLE ?? 200);
const ACCOUNTS = 20;
const SAMPLE_MS = 1_000;
/** Think time of a person between two requests. */
const THINK_MS = [2_000, 6_000];
const FAULT_EVERY_MS = 4_000;
/** The time for the server to complete its work after the people have stopped. */
const SETTLE_MS = 40_000;
/** The allowed growth from the beginning to the end: memory grows with the database's caches, up to their limits. */
const MOST_MORE = { memory: 30, connections: 5, files: 10, tasks: 10, threads: 8 };

const FAULTS = [
  { kind: "status", code: 503 },
  { kind: "status", code: 500 },
  { kind: "drop" },
  { kind: "accept-then-drop" },
  { kind: "cut" },
  { kind: "garbage" },
  { kind: "wrong-types" },
  { kind: "delay", millis: 2_000 },
  { kind: "trickle", millis: 5 },
  { kind: "oversize", gzip: true },
  { kind: "redirect" },
  { kind: "too-many", "retry-after": "1" },
];
const OPERATIONS = ["create", "follow-up", "get", "views"];

const [binary, minutes, replicas] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
await withProcesses(async ({ directory, start }) => {
  const postgres = replicas > 1 ? await startPostgres() : undefined;
  const emulator = start(binary, ["emulator", "--addr", "127.0.0.1:0", "--per-hour", PLENTY, "--pages", "300"]);
  const { url: upstream, key } = await emulator.upstream();
  const environment = {
    DOCKET_UPSTREAM_URL: upstream,
    DOCKET_API_KEY: key,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_PROJECTS: "docs=Docs,api=API reference",
    DOCKET_DATABASE_URL: postgres ? `${postgres.url}postgres` : `sqlite://${directory}/docket.db`,
    DOCKET_TRUSTED_PROXIES: "127.0.0.1",
    DOCKET_AGENT_PER_HOUR: PLENTY,
    DOCKET_ANALYTICS_PER_HOUR: PLENTY,
    DOCKET_ANALYTICS_PER_PERSON: PLENTY,
    DOCKET_HISTORY_DAYS: "30",
    DOCKET_JOBS_DAYS: "1",
    DOCKET_LOG_FORMAT: "json",
    DOCKET_LOG: "warn,docket::server::commands=info",
  };
  const servers = Array.from({ length: replicas }, () => start(binary, ["serve"], environment));
  const urls = await Promise.all(servers.map((server) => server.url()));
  for (let n = 0; n < ACCOUNTS; n++) await account(start, environment, `person-${n}`);
  const admins = [];
  for (const url of urls) admins.push(await signIn(url));
  const people = [];
  for (let n = 0; n < PEOPLE; n++) people.push(await person(urls[n % replicas], n));

  const soak = { statuses: new Map(), times: [], problems: [], jobs: [], isOver: false };
  const samples = [];
  const sampled = () => Promise.all(servers.map((server, n) => sample(server, urls[n], admins[n])));
  const first = await sampled();
  const ends = performance.now() + minutes * 60_000;
  const watch = repeat(soak, SAMPLE_MS, async () => samples.push(await sampled()));
  const faults = repeat(soak, FAULT_EVERY_MS, () => fault(upstream, key));
  const lives = people.map((who) => live(soak, who, ends));
  await Promise.all(lives);
  soak.isOver = true;
  await Promise.all([watch, faults]);
  people.forEach(({ agent }) => agent.destroy());
  await sleep(SETTLE_MS);
  process.exitCode = report(soak, samples, first, await sampled()) ? 0 : 1;
  postgres?.stop();
});

/** A server of PostgreSQL, until it is stopped. */
async function startPostgres() {
  const script = spawn(new URL("postgres.sh", import.meta.url).pathname, { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await once(createInterface(script.stdout), "line");
  return { url, stop: () => script.stdin.end() };
}

/** Adds an operator by the command line. */
async function account(start, environment, name) {
  const { DOCKET_DATABASE_URL, DOCKET_PROJECTS } = environment;
  const command = start(binary, ["user", "add", name, "--role", "operator"], { DOCKET_DATABASE_URL, DOCKET_PROJECTS });
  command.write(`${PASSWORD}\n`);
  await command.printed(/can sign in/);
}

async function person(url, n) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
  const address = `198.51.${n >> 8}.${n & 255}`;
  const cookie = await signIn(url, `person-${n % ACCOUNTS}`, { agent, address });
  return { url, agent, address, cookie, random: randomFrom(n + 1) };
}

/** The actions of one person until `ends`. */
async function live(soak, who, ends) {
  await sleep(who.random() * THINK_MS[1]);
  while (performance.now() < ends) {
    const began = performance.now();
    const { status, path, text } = await act(soak, who);
    soak.times.push(performance.now() - began);
    soak.statuses.set(status, (soak.statuses.get(status) ?? 0) + 1);
    const isGood = (status >= 200 && status < 400) || status === 429;
    if (!isGood) soak.problems.push(`${path} answered ${status}: ${text.slice(0, 200)}`);
    await sleep(THINK_MS[0] + who.random() * (THINK_MS[1] - THINK_MS[0]));
  }
}

async function act(soak, who) {
  const { jobs } = soak;
  const project = who.random() < 0.7 ? "docs" : "api";
  const job = jobs[Math.floor(who.random() * jobs.length)];
  const open = (path) => request(path, who);
  const call = (path, fields) => request(path, who, fields);
  const pages = [
    () => open(`/p/${project}`),
    () => open(`/p/${project}/jobs`),
    () => open(`/p/${project}/jobs?q=guide`),
    () => open(`/p/${project}/jobs?status=completed&sort=changed`),
    () => open(`/p/${project}/jobs/new`),
    () => open(`/p/${project}/analytics`),
    () => open(`/p/${project}/queue`),
    () => open(`/p/${project}/templates`),
    () => open("/account"),
    () => (job ? open(`/p/${job.project}/jobs/${job.id}`) : open("/")),
    () => call("/api/jobs/statuses", { project, jobs: jobs.filter((it) => it.project === project).slice(-20).map((it) => it.id).join(",") }),
    () => call("/api/jobs/similar", { project, prompt: "Check the guide about keys" }),
    () => call("/api/jobs/draft", { project, text: "Half a thought" }),
    () => call("/api/upstream/budgets", { project }),
    () => (job ? call("/api/jobs/archive", { project: job.project, jobs: job.id }) : open("/")),
    async () => {
      const prompt = `Check guide ${Math.floor(who.random() * 1e6)} against the current SDK.`;
      const answer = await call("/api/jobs/create", { project, prompt, intent: crypto.randomUUID(), paths: "/guides/keys", queue: "on" });
      if (answer.status === 200) jobs.push({ project, id: JSON.parse(answer.text).id });
      if (jobs.length > 500) jobs.shift();
      return answer;
    },
  ];
  return pages[Math.floor(who.random() * pages.length)]();
}

async function request(path, { url, agent, cookie, address }, fields) {
  const options = fields ? post(url, fields, cookie) : { headers: { cookie, accept: "text/html" } };
  options.headers["x-forwarded-for"] = address;
  try {
    const { status, text } = await send(`${url}${path}`, { ...options, agent });
    return { status, text, path };
  } catch (error) {
    return { status: 0, text: String(error), path };
  }
}

/** Lets the platform fail once in some way. */
async function fault(upstream, key) {
  const pick = (list) => list[Math.floor(Math.random() * list.length)];
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ operation: pick(OPERATIONS), times: 1, fault: pick(FAULTS) });
  const { status, text } = await send(`${upstream}/__emulator/faults`, { method: "POST", headers, body });
  if (status >= 400) throw new Error(`the emulator refused ${body}: ${text}`);
}

async function sample(server, url, admin) {
  const { status, text } = await send(`${url}/api/upstream/status`, post(url, {}, admin));
  if (status !== 200) throw new Error(`the status answered ${status}: ${text}`);
  const { files, connections } = server.descriptors();
  return { memory: server.memory(), threads: server.threads(), tasks: JSON.parse(text).working, files, connections };
}

async function repeat(soak, every, action) {
  while (!soak.isOver) {
    await action();
    await sleep(every);
  }
}

/** Prints a table for each process. Returns whether all passed. `samples`, `first` and `last` have one sample of each process. */
function report({ statuses, times, problems }, samples, first, last) {
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, number]) => `${number} × ${status}`);
  const where = replicas > 1 ? `, ${replicas} processes on PostgreSQL` : "";
  console.log(`${PEOPLE} people, ${minutes} min${where}   ${times.length} answers: ${counts.join(", ")}`);
  console.log(`time of an answer       p50 ${median(times).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`);
  const isFlat = first.map((_, n) => table(samples.map((sample) => sample[n]), first[n], last[n])).every(Boolean);
  for (const problem of problems.slice(0, 10)) console.log(`WRONG  ${problem}`);
  const isGood = isFlat && problems.length === 0 && times.length > 0;
  console.log(isGood ? "flat, and every answer was a good one" : `FAILED: ${problems.length} answers were wrong`);
  return isGood;
}

/** Prints the resources of one process. Returns whether they did not grow. */
function table(samples, first, last) {
  console.log(`${"".padEnd(14)}${["before", "middle", "most", "after", "may grow by"].map((word) => word.padStart(12)).join("")}`);
  let isFlat = true;
  for (const [name, most] of Object.entries(MOST_MORE)) {
    const all = samples.map((sample) => sample[name]);
    // Memory is compared with the middle of the run, when the caches are full; other values with the beginning.
    const from = name === "memory" ? median(all.slice(Math.floor(all.length / 3))) : first[name];
    const grew = last[name] > from + most;
    isFlat &&= !grew;
    const cells = [first[name], median(all), Math.max(...all), last[name]].map((value) => value.toFixed(name === "memory" ? 1 : 0).padStart(12));
    console.log(`${name.padEnd(14)}${cells.join("")}${String(most).padStart(12)}${grew ? "   GREW" : ""}`);
  }
  return isFlat;
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed) {
  let state = seed * 2654435761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
