// site.mjs STYLESHEET SITE: writes the stylesheet for the browsers that are supported into the site, and beside every file of it the same file
// compressed by gzip and brotli. The bytes depend on nothing but the input.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { transform } from "../end2end/node_modules/lightningcss/node/index.mjs";

const version = (major, minor = 0) => (major << 16) | (minor << 8);
// Those that have WebAssembly as the front end uses it; newer CSS, such as light-dark(), is written in older one.
const BROWSERS = { chrome: version(109), edge: version(109), firefox: version(115), safari: version(15, 6), ios_saf: version(15, 6) };

const [stylesheet, site] = process.argv.slice(2);
const { code, warnings } = transform({ filename: stylesheet, code: readFileSync(stylesheet), minify: true, targets: BROWSERS });
if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
writeFileSync(path.join(site, "pkg/docket.css"), code);

const files = readdirSync(site, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
for (const { parentPath, path: folder, name } of files) {
  const file = path.join(parentPath ?? folder, name);
  const content = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
}
