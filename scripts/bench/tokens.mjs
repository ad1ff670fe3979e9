// API tokens for benchmarks. Each token can send only 60 requests a minute, so a benchmark needs many of them: they are inserted into the SQLite file.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SCOPES = "jobs:read,jobs:write,analytics:read";
const DAY_MS = 86_400_000;

/** Adds `count` tokens of the user `admin` to the database in `file`, and returns them. */
export function addTokens(file, count) {
  const tokens = Array.from({ length: count }, token);
  const rows = tokens.map((text) => {
    const hash = createHash("sha256").update(text).digest("base64url");
    return `('${randomUUID()}', (SELECT id FROM users WHERE name = 'admin'), 'Bench', '${hash}', '${text.slice(-4)}', '${SCOPES}', '*', ${Date.now()}, ${Date.now() + DAY_MS})`;
  });
  const input = `INSERT INTO api_tokens (id, user_id, name, token_hash, last_four, scopes, projects, created_at, expires_at) VALUES ${rows.join(",")};`;
  execFileSync("sqlite3", ["-cmd", ".timeout 10000", file], { input });
  return tokens;
}

function token() {
  const random = Array.from(randomBytes(32), (byte) => DIGITS[byte % 62]).join("");
  let checksum = "";
  for (let rest = crc32(random), n = 0; n < 6; n++, rest = Math.floor(rest / 62)) checksum = DIGITS[rest % 62] + checksum;
  return `dkt_${random}${checksum}`;
}
