// Measurements for attack.sh: all known attacks on availability (docs/threat-model.md) at the same time, while one person does ordinary
// work. Before that, a flood of refused requests alone: it must not slow a person down to more than half.
import { spawn } from "node:child_process";
import http from "node:http";
import net from "node:net";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { PASSWORD, post, quantile, send, signIn, withProcesses } from "./bench/docket.mjs";

const JOBS = 1_000;
/** The limits of the threat model: p99 of the health check, p95 of a person's requests, p95 of their sign-ins while others guess
 * passwords, and the maximum of resident memory (ADR 17 lists its parts). */
const HEALTH_MS = 100;
const PAGE_MS = 1_000;
const SIGN_IN_MS = 3_000;
const MEMORY_MB = 400;

const SEARCHES = ["-", ",", ":", ";", "( )", "…", "~", "a e", "- , : ;"];
/** The default pause between two attempts of an attacker. */
const PAUSE_MS = 20;
/** The IP addresses of the password guessers, and that of the person. */
const HOSTS = 250;
const PERSON = "198.51.100.7";

/** The connections that send refused requests, and how long they do, after a quiet time that is as long. */
const REFUSED = 512;
const REFUSED_MS = 10_000;
/** How much longer a person may wait meanwhile, at p95. */
const REFUSED_FACTOR = 2;

/** The number of unread downloads of the largest file, by clients that accept no compressed form. */
const UNREAD_FILES = 1_000;
/** The number of unread exports, and the size of their site: its pages, and its days in the history. */
const UNREAD = 60;
const PAGES = 5_000;
const DAYS = 10;

const [binary, seconds] = [process.argv[2], Number(process.argv[3])];
await withProcesses(async ({ directory, start }) => {
  const emulator = start(binary, ["emulator", "--addr", "127.0.0.1:0", "--per-hour", "100000", "--pages", `${PAGES}`]);
  const { url: upstream, key } = await emulator.upstream();
  const environment = {
    DOCKET_UPSTREAM_URL: upstream,
    DOCKET_API_KEY: key,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_PROJECTS: "docs=Docs,api=API reference",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    // Attackers and people use a proxy on this machine, each with a separate IP address; stalled connections are direct.
    DOCKET_TRUSTED_PROXIES: "127.0.0.1",
    DOCKET_AGENT_PER_HOUR: "10000",
    DOCKET_ANALYTICS_PER_HOUR: "10000",
    DOCKET_HISTORY_DAYS: `${DAYS}`,
    DOCKET_HISTORY_BEFORE: "0",
    DOCKET_LOG_FORMAT: "json",
    DOCKET_LOG: "error,docket::server::commands=info",
  };
  const server = start(binary, ["serve"], environment);
  const url = await server.url();
  for (const [name, role] of [["vera", "viewer"], ["olga", "operator"], ["mia", "operator"], ["emma", "viewer"]]) {
    const command = start(binary, ["user", "add", name, "--role", role], environment);
    command.write(`${PASSWORD}\n`);
    await command.printed(/can sign in/);
  }
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const viewer = { cookie: await signIn(url, "vera"), agent };
  const operator = { cookie: await signIn(url, "olga"), agent };
  const reader = await signIn(url, "emma");
  await fill(url, operator);
  await server.until("the history is stored", async () => {
    const { text } = await send(`${url}/api/history/state`, { ...post(url, { project: "docs" }, reader), agent });
    await sleep(100);
    return JSON.parse(text).days_done >= DAYS;
  });
  const idle = server.memory();

  // A browser that the person has used before, so that guesses of others cannot lock it out.
  const device = await signIn(url, "mia", { address: PERSON });
  const begin = (ms) => ({ url, device, ends: performance.now() + ms, answers: new Map(), slowest: new Map(), health: [], pages: [], signIns: [], wrong: [], most: 0 });
  const withRefusals = await refusals(url, begin);
  const run = begin(seconds * 1_000);
  // ONLY=braces runs only one of them.
  const attacks = attacksOf(url, viewer, operator).filter(({ name }) => !process.env.ONLY || name === process.env.ONLY);
  const all = attacks.flatMap(({ at_once, ...of }) => Array.from({ length: at_once }, (_, n) => attack(run, n, of)));
  if (!process.env.ONLY || process.env.ONLY === "unread exports") all.push(unreadExports(run, reader));
  if (!process.env.ONLY || process.env.ONLY === "unread files") all.push(unreadFiles(run));
  all.push(stall(run), watch(run, server), health(run), person(run));
  await Promise.all(all);
  agent.destroy();
  process.exitCode = report(run, idle) && withRefusals ? 0 : 1;
});

/** How long a person waits while nobody else does anything, and during a flood of refused requests. Returns whether that is within the limit. */
async function refusals(url, begin) {
  const measure = async () => {
    const run = begin(REFUSED_MS);
    await person(run);
    for (const problem of run.wrong.slice(0, 10)) console.log(`WRONG  ${problem}`);
    return { p95: quantile(run.pages, 0.95), number: run.pages.length, wrong: run.wrong.length };
  };
  // The first requests prepare statements and fill caches.
  await measure();
  const quiet = await measure();
  const flood = spawn(process.execPath, [fileURLToPath(new URL("attack/refusals.mjs", import.meta.url)), url, `${REFUSED}`]);
  let printed = "";
  flood.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  flood.stderr.pipe(process.stderr);
  await sleep(1_000);
  const flooded = await measure();
  flood.kill();
  const rates = [...printed.matchAll(/(\d+) responses/g)].map(([, number]) => Number(number));
  const limit = REFUSED_FACTOR * quiet.p95;
  const isTooMuch = flooded.p95 > limit || flooded.wrong > 0 || Math.max(0, ...rates) === 0;
  console.log(`${REFUSED} connections with refused requests: ${rates.join(", ")} responses a second`);
  console.log(`a person's requests meanwhile, p95 ${flooded.p95.toFixed(1)} ms of ${flooded.number} (quiet: ${quiet.p95.toFixed(1)} ms of ${quiet.number}; at most ${limit.toFixed(1)})${isTooMuch ? "   TOO MUCH" : ""}`);
  return !isTooMuch;
}

/** Long prompts to search, a job to follow up, and a long queue. */
async function fill(url, operator) {
  const { cookie, agent } = operator;
  const words = "Check every step of this guide - with care: fix what no longer works, and say why; (really) ".repeat(40);
  const make = async (n) => {
    const fields = { project: "docs", prompt: `Guide ${n}. ${words}`, intent: `attack-${n}`, paths: `/guides/part-${n}` };
    const { status, text } = await send(`${url}/api/jobs/create`, { ...post(url, fields, cookie), agent });
    if (status !== 200) throw new Error(`no job was made: ${status} ${text}`);
    return JSON.parse(text).id;
  };
  for (let n = 0; n < JOBS; n += 20) await Promise.all(Array.from({ length: 20 }, (_, at) => make(n + at)));
  operator.job = await make(JOBS);
  const values = Array.from({ length: 200 }, (_, n) => n).join("\n");
  const fields = { project: "api", prompt: `Check {{page}}. ${"x".repeat(30_000)}`, values, intent: "attack-queue" };
  const { text } = await send(`${url}/api/batches/prepare`, { ...post(url, fields, cookie), agent });
  await send(`${url}/api/batches/start`, { ...post(url, { project: "api", batch: JSON.parse(text).id }, cookie), agent });
}

/** The attacks, each with its concurrency. */
function attacksOf(url, viewer, operator) {
  const call = (who, path, fields) => send(`${url}${path}`, { ...post(url, fields, who.cookie), agent: who.agent });
  const paths = Array.from({ length: 45_000 }, (_, n) => `p${n}`).join("\n");
  const values = Array.from({ length: 200 }, (_, n) => n).join("\n");
  const prepare = (prompt, values) => call(operator, "/api/batches/prepare", { project: "docs", prompt, values, intent: crypto.randomUUID() });
  return [
    { name: "many pages", at_once: 2, attempt: () => call(viewer, "/api/jobs/similar", { project: "docs", prompt: "x", paths }) },
    { name: "braces", at_once: 1, attempt: () => prepare(`{{a}}${"{".repeat(32_700)}`, values) },
    { name: "a prompt of gigabytes", at_once: 2, attempt: () => prepare("{{a}}".repeat(6_500), "x".repeat(130_000)) },
    // 2,400 of them in 30 s.
    { name: "wrong passwords", at_once: 16, pause: 200, attempt: (n, tries) => guess(url, viewer.agent, n * 7 + tries) },
    { name: "costly searches", at_once: 16, attempt: (n) => call(viewer, "/api/jobs/list", { project: "docs", q: SEARCHES[n % SEARCHES.length] }) },
    { name: "searches in the palette", at_once: 16, attempt: (n) => call(viewer, "/api/palette/find", { project: "docs", q: SEARCHES[n % SEARCHES.length] }) },
    { name: "notifications", at_once: 16, attempt: () => call(viewer, "/api/notifications/list", { project: "docs", who: "all" }) },
    { name: "jobs that match", at_once: 8, attempt: (n) => call(operator, "/api/jobs/untag", { project: "docs", matching: `?q=${encodeURIComponent(SEARCHES[n % SEARCHES.length])}`, tag: "none" }) },
    { name: "long follow-ups", at_once: 6, pause: 200, attempt: (n, tries) => call(operator, "/api/jobs/message", { project: "docs", job: operator.job, prompt: longText(n, tries), intent: crypto.randomUUID(), queue: "on" }) },
    { name: "the long queue", at_once: 8, attempt: () => call(viewer, "/api/queue/list", { project: "api" }) },
    { name: "reports", at_once: 4, attempt: () => send(`${url}/p/docs/analytics`, { headers: { cookie: viewer.cookie }, agent: viewer.agent }) },
  ];
}

/** 32 KiB of many different words. */
function longText(n, tries) {
  return Array.from({ length: 3_200 }, (_, at) => `w${(at * 7_919 + n * 104_729 + tries * 31) % 99_991}`).join(" ").slice(0, 32_000);
}

function guess(url, agent, n) {
  const options = post(url, { username: ["mia", "olga", "nobody"][n % 3], password: `guess ${n}` });
  options.headers["x-forwarded-for"] = `203.0.${n % HOSTS}.9`;
  return send(`${url}/api/session/login`, { ...options, agent });
}

async function attack(run, n, { name, attempt, pause = PAUSE_MS }) {
  for (let tries = 0; performance.now() < run.ends; tries++) {
    const status = await attempt(n, tries).then((answer) => answer.status, () => 0);
    const kind = `${name}: ${status}`;
    run.answers.set(kind, (run.answers.get(kind) ?? 0) + 1);
    await sleep(pause);
  }
}

/** Many connections with half a sign-in each. */
async function stall({ url, ends }) {
  const { hostname, port } = new URL(url);
  const sockets = [];
  for (let n = 0; n < 1_000 && performance.now() < ends; n++) {
    const socket = net.connect({ host: hostname, port: Number(port), localAddress: `127.0.1.${(n % 8) + 1}` });
    socket.on("error", () => {});
    const head = `POST /api/session/login HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 500000\r\n\r\n`;
    socket.write(`${head}username=${"x".repeat(15_000)}`);
    sockets.push(socket);
    if (n % 50 === 0) await sleep(20);
  }
  await sleep(Math.max(0, ends - performance.now()));
  sockets.forEach((socket) => socket.destroy());
}

/** Many exports of which only the beginning is read. */
function unreadExports(run, cookie) {
  const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  // Yesterday and the oldest day may lack views yet.
  const path = `/p/docs/analytics/export.csv?from=${day(DAYS - 1)}&to=${day(2)}`;
  return unread(run, "unread exports", UNREAD, (n) => [`${path}&of=${n % 2 ? "daily" : "pages"}`, `cookie: ${cookie}`]);
}

/** Many downloads of the WebAssembly module, as it is before it is compressed. */
async function unreadFiles(run) {
  const { text } = await send(`${run.url}/login`);
  const path = /\/pkg\/[^"']+\.wasm/.exec(text)[0];
  await unread(run, "unread files", UNREAD_FILES, () => [path, "accept-encoding: identity"]);
}

/** Repeats requests, `at_once` at a time, and reads only the beginning of each response. `request`: the path and a header of the request of a connection. */
async function unread(run, name, at_once, request) {
  const { hostname, port } = new URL(run.url);
  const one = async (n) => {
    const [path, header] = request(n);
    while (performance.now() < run.ends) {
      const socket = net.connect({ host: hostname, port: Number(port), localAddress: `127.0.2.${(n % 8) + 1}` });
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${header}\r\n\r\n`);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.on("error", () => {});
      socket.once("data", (data) => {
        socket.pause();
        const status = /^HTTP\/1.1 (\d+)/.exec(data.toString("latin1"))?.[1];
        const kind = `${name}: ${status}`;
        run.answers.set(kind, (run.answers.get(kind) ?? 0) + 1);
        if (status !== "200") socket.destroy();
      });
      await Promise.race([closed, sleep(Math.max(0, run.ends - performance.now()))]);
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: at_once }, (_, n) => one(n)));
}

async function watch(run, server) {
  while (performance.now() < run.ends) {
    run.most = Math.max(run.most, server.memory());
    await sleep(200);
  }
}

async function health(run) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  while (performance.now() < run.ends) {
    await timed(run, run.health, "/healthz", { agent });
    await sleep(50);
  }
  agent.destroy();
}

/** Signs in, opens pages and starts a job, in a loop. */
async function person(run) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const { url } = run;
  for (let round = 0; performance.now() < run.ends; round++) {
    const options = post(url, { username: "mia", password: PASSWORD });
    options.headers["x-forwarded-for"] = PERSON;
    options.headers.cookie = run.device;
    const answer = await timed(run, run.signIns, "/api/session/login", { ...options, agent });
    if (answer?.status !== 200) continue;
    const cookie = answer.headers["set-cookie"].map((cookie) => cookie.split(";")[0]).join("; ");
    run.device = cookie;
    for (const page of ["/p/docs", "/p/docs/jobs", "/p/docs/jobs/new", "/p/docs/analytics", "/account"]) {
      await timed(run, run.pages, page, { headers: { cookie }, agent });
    }
    const fields = { project: "docs", prompt: `Fix guide ${round}`, intent: crypto.randomUUID() };
    await timed(run, run.pages, "/api/jobs/create", { ...post(url, fields, cookie), agent });
    await sleep(200);
  }
  agent.destroy();
}

async function timed(run, times, path, options) {
  const began = performance.now();
  const answer = await send(`${run.url}${path}`, options).catch(() => undefined);
  const took = performance.now() - began;
  times.push(took);
  run.slowest.set(path, Math.max(run.slowest.get(path) ?? 0, took));
  if (answer?.status !== 200) run.wrong.push(`${path} answered ${answer?.status}: ${answer?.text.slice(0, 200)}`);
  return answer;
}

/** Prints the figures. Returns whether all are within their limits. */
function report({ answers, slowest, health, pages, signIns, wrong, most }, idle) {
  for (const [kind, number] of [...answers].sort()) console.log(`  ${String(number).padStart(6)} × ${kind}`);
  const figures = [
    ["health check, p99", quantile(health, 0.99), HEALTH_MS, "ms"],
    ["a person's requests, p95", quantile(pages, 0.95), PAGE_MS, "ms"],
    ["a person's sign-in, p95", quantile(signIns, 0.95), SIGN_IN_MS, "ms"],
    ["memory at most", most, MEMORY_MB, "MB"],
    ["a person's requests that failed", wrong.length, 0, ""],
  ];
  for (const [name, value, limit, unit] of figures) {
    console.log(`${name.padEnd(34)}${value.toFixed(0).padStart(6)} ${unit.padEnd(3)} (at most ${limit})${value > limit ? "   TOO MUCH" : ""}`);
  }
  console.log(`${health.length} health checks, slowest ${Math.max(...health).toFixed(0)} ms; ${pages.length} requests of the person, slowest ${Math.max(...pages).toFixed(0)} ms; memory before ${idle.toFixed(0)} MB`);
  console.log(`slowest of each: ${[...slowest].map(([path, took]) => `${path} ${took.toFixed(0)} ms`).join(", ")}`);
  for (const problem of wrong.slice(0, 10)) console.log(`WRONG  ${problem}`);
  return pages.length > 0 && figures.every(([, value, limit]) => value <= limit);
}
