// Reads a bill of materials in CycloneDX, and writes it with only the crates of the server, and without the folder of
// this clone: node scripts/sbom.mjs FILE. cargo-cyclonedx uses `cargo metadata`, which also lists crates of disabled features
// (such as sqlx-mysql); `cargo tree` does not.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "..");

const tree = ["tree", "--locked", "--prefix", "none", "--edges", "normal", "--no-default-features", "--features", "ssr", "--format", "{p}"];
const output = execFileSync("cargo", [...tree, "--target", "x86_64-unknown-linux-gnu"], { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 26 });
const compiled = new Set(output.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));

const bom = JSON.parse(readFileSync(process.argv[2], "utf8").replaceAll(`path+file://${ROOT}`, "path+file:///docket"));
const removed = new Set();
bom.components = bom.components.filter((component) => {
  const inside = compiled.has(`${component.name} v${component.version}`);
  if (!inside) removed.add(component["bom-ref"]);
  return inside;
});
bom.dependencies = bom.dependencies
  .filter(({ ref }) => !removed.has(ref))
  .map((entry) => (entry.dependsOn ? { ...entry, dependsOn: entry.dependsOn.filter((ref) => !removed.has(ref)) } : entry));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
