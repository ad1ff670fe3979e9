/** The queries to GitHub are valid for its published schema, and no response of that schema leads to an impossible state. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROJECT, expect, test } from "../fixtures/docket.ts";
import { Api } from "../fixtures/api.ts";
import { GitHub } from "../fixtures/github.ts";

/** How long random responses are sent, in seconds. `make soak-code-host` sends them for ten minutes. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 10);

interface PullRequest {
  state: "open" | "draft" | "merged" | "closed" | "unknown";
  checks: string;
  review: string;
  waiting_for: string;
  conflict: boolean;
  files: string[];
  files_total: number;
  merged_at: string | null;
  closed_at: string | null;
  checked_at: string | null;
}

/** What is wrong with a pull request, if anything. */
function impossible(request: PullRequest): string | undefined {
  const isOpen = request.state === "open" || request.state === "draft";
  if (isOpen === (request.waiting_for === "nobody")) return "an open one waits for somebody, and no other does";
  if (request.conflict && !isOpen) return "only an open one has conflicts";
  if (request.merged_at !== null && request.state !== "merged") return "only a merged one has a time of the merge";
  if (request.closed_at !== null && isOpen) return "an open one is not closed";
  if (request.state === "draft" && request.waiting_for !== "author") return "a draft waits for its author";
  if (request.files.length > 100 || request.files_total < request.files.length) return "the number of files";
  return undefined;
}

test("queries are valid for the schema of GitHub, and every state is possible", async ({ serve, playwright }) => {
  test.setTimeout((SECONDS + 120) * 1_000);
  const github = await GitHub.start();
  const folder = await mkdtemp(join(tmpdir(), "docket-token-"));
  await writeFile(join(folder, "token"), "github_pat_1");
  const server = await serve({
    environment: {
      DOCKET_UPSTREAM_URL: github.url,
      DOCKET_GITHUB_URL: github.url,
      DOCKET_GITHUB_TOKEN_FILE: join(folder, "token"),
      DOCKET_AGENT_PER_HOUR: "100000",
    },
  });
  const request = await playwright.request.newContext({ storageState: server.session });
  const api = new Api(request, server.url, PROJECT);
  const seen = new Set<string>();
  const ends = Date.now() + SECONDS * 1_000;
  do {
    await Promise.all(Array.from({ length: 20 }, () => api.start("Change a page")));
    const listed = await request.post(`${server.url}/api/jobs/list`, { form: { project: PROJECT }, headers: { origin: server.url } });
    expect(listed.status(), await listed.text()).toBe(200);
    const { jobs } = (await listed.json()) as { jobs: { pull_request: PullRequest }[] };
    for (const { pull_request } of jobs) {
      expect(impossible(pull_request), JSON.stringify(pull_request)).toBeUndefined();
      if (pull_request.checked_at !== null) seen.add(`${pull_request.state} ${pull_request.waiting_for} ${pull_request.checks}`);
    }
  } while (Date.now() < ends || seen.size < 8);
  expect(github.invalid).toEqual([]);
  // The states of one to fifty pull requests, and their checks.
  expect(github.queries.size).toBeGreaterThanOrEqual(2);
  const [first] = server.processes;
  const ended = await first?.stop();
  expect(ended?.stderr ?? "").not.toMatch(/panicked/);
  expect(ended?.stdout ?? "").not.toMatch(/panicked/);
  await request.dispose();
  await github.stop();
  await rm(folder, { recursive: true });
});
