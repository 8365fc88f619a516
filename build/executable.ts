// npm run build:executable: writes the program as one file for this platform to release/, with its digest and the licences of what is in it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync, type Metafile } from 'esbuild';
import { VERSION } from '../src/version.ts';
import { BUNDLED, ROOT, THREAD_FILES, writeAssets } from './program.ts';

/** The first release that can build one with modules. */
const NEEDED = 26;
if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  throw new Error(
    `this needs Node.js ${NEEDED}, which "npm ci" installs; it is ${process.version}`,
  );
}

const OUT = join(ROOT, 'release');
const SUFFIX = process.platform === 'win32' ? '.exe' : '';
const NAME = `store-orders-${VERSION}-${process.platform}-${process.arch}${SUFFIX}`;

/** For packages in the older module format: "require" for what is not in the bundle, the parts of Node.js. It needs no path, unlike createRequire. */
const REQUIRE = `const require = (id) => {
  const found = process.getBuiltinModule(id);
  if (found !== undefined) return found;
  throw Object.assign(new Error("Cannot find module '" + id + "'"), { code: 'MODULE_NOT_FOUND' });
};`;

const folder = mkdtempSync(join(tmpdir(), 'store-orders-executable-'));
try {
  const assets = join(folder, 'assets');
  writeAssets(assets);
  const main = join(folder, 'main.mjs');
  const { metafile } = buildSync({
    ...BUNDLED,
    metafile: true,
    minify: true,
    banner: { js: REQUIRE },
    stdin: {
      contents: "import './bin/signals.js'; import './src/main.ts';",
      resolveDir: ROOT,
    },
    outfile: main,
  });
  for (const [name, path] of Object.entries(THREAD_FILES)) {
    const outfile = join(assets, `${name}.js`);
    buildSync({ ...BUNDLED, minify: true, entryPoints: [path], outfile });
  }
  const paths = globSync('**', { cwd: assets, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const config = {
    ...{ main, mainFormat: 'module', output: join(OUT, NAME), useCodeCache: true },
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS could load a file of another user, in a command that runs as root.
    execArgvExtension: 'none',
    // With slashes on Windows, too.
    assets: Object.fromEntries(
      paths.map((path) => [path.slice(assets.length + 1).replaceAll('\\', '/'), path]),
    ),
  };
  const file = join(folder, 'executable.json');
  writeFileSync(file, JSON.stringify(config));
  mkdirSync(OUT, { recursive: true });
  execFileSync(process.execPath, [`--build-sea=${file}`], { stdio: 'inherit' });
  // macOS runs no program without a signature.
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', config.output]);
  writeFileSync(join(OUT, `${NAME}.LICENSES`), licences(metafile));
  const digest = createHash('sha256').update(readFileSync(config.output)).digest('hex');
  writeFileSync(`${config.output}.sha256`, `${digest}  ${NAME}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the licences of the packages in a bundle, and of Node.js. @throws if a package has none */
function licences({ inputs }: Metafile): string {
  const packages = new Set(
    Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
  );
  // Part of the script of the console.
  for (const name of ['lit-html', 'lean-qr']) packages.add(`node_modules/${name}`);
  const texts = [...packages].sort().map((path) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(ROOT, path, 'package.json'), 'utf8'),
    );
    const [file] = globSync('{LICENSE,LICENCE,license,License}*', { cwd: join(ROOT, path) });
    if (license === undefined && file === undefined) throw new Error(`${name} has no licence`);
    const text = file === undefined ? `${license}\n` : readFileSync(join(ROOT, path, file), 'utf8');
    return `${name} ${version}\n\n${text}`;
  });
  const ofNode = join(dirname(process.execPath), '../LICENSE');
  const own = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
  const node = `Node.js ${process.version}\n\n${readFileSync(ofNode, 'utf8')}`;
  return [own, node, ...texts].join(`\n${'-'.repeat(80)}\n\n`);
}
