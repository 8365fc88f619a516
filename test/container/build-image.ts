import assert from 'node:assert/strict';
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEBIAN = 'trixie';
const BASE = 'localhost/node';
const IMAGE = 'localhost/store-orders';

/** All commands together, so that the test ends within five minutes. */
const LIMIT_MS = 240_000;
const deadline = Date.now() + LIMIT_MS;

export function command(name: string, args: readonly string[], options: ExecFileSyncOptions = {}) {
  const timeout = Math.max(1, deadline - Date.now());
  const stdio: ExecFileSyncOptions['stdio'] = ['ignore', 'pipe', 'inherit'];
  const output = execFileSync(name, args, { timeout, stdio, maxBuffer: 2 ** 28, ...options });
  return String(output ?? '').trim();
}

/** What the image says about how to run it. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface Image {
  /** Its files, in a folder. */
  readonly root: string;
  readonly config: ImageConfig;
}

/** @throws if this machine cannot build and run images */
function expectTools(): void {
  const isRoot = process.platform === 'linux' && process.getuid!() === 0;
  assert.ok(isRoot, 'this test needs Linux, and root for chroot and mount');
  const tools = ['buildah', 'unshare', 'nsenter', 'setpriv'];
  if (process.env.NODE_IMAGE === undefined) tools.push('debootstrap');
  const folders = process.env.PATH!.split(':');
  const missing = tools.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
  const what = missing.join(', ');
  assert.equal(what, '', `this test needs ${what}: install from the system's packages`);
}

/**
 * Builds the image in `folder`, which gets about 3 GB. The base is the image named by NODE_IMAGE, which buildah pulls;
 * without it one is made from Debian's packages, this Node.js and npm, and no registry of images is needed.
 */
export function buildImage(folder: string): Image {
  expectTools();
  const store = ['--root', join(folder, 'images'), '--runroot', join(folder, 'state')];
  // vfs and chroot work inside containers and virtual machines of any kind.
  const buildah = (...args: string[]) =>
    command('buildah', ['--storage-driver', 'vfs', ...store, ...args]);
  const base = process.env.NODE_IMAGE ?? BASE;
  if (base === BASE) {
    const container = buildah('from', 'scratch');
    buildah('copy', '--quiet', container, baseFolder(folder), '/');
    buildah('commit', '--quiet', '--rm', container, BASE);
    rmSync(join(folder, 'base'), { recursive: true });
  }
  const from = ['--isolation', 'chroot', '--build-arg', `NODE_IMAGE=${base}`];
  // The format of Docker has the health check, that of OCI does not.
  const what = ['--format', 'docker', '--file', join(ROOT, 'deploy/container/Dockerfile')];
  buildah('build', '--quiet', ...from, ...what, '--tag', IMAGE, ROOT);
  const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', IMAGE));
  return { root: buildah('mount', buildah('from', IMAGE)), config: Docker.config };
}

/** The files of an image like those of Node.js: a minimal Debian, and Node.js with npm in /usr/local. */
function baseFolder(folder: string): string {
  const base = join(folder, 'base');
  const libraries = '--include=libatomic1,libstdc++6';
  command('debootstrap', ['--variant=minbase', libraries, DEBIAN, base]);
  for (const left of ['var/cache/apt', 'var/lib/apt/lists', 'var/log']) {
    rmSync(join(base, left), { recursive: true });
  }
  cpSync(realpathSync(process.execPath), join(base, 'usr/local/bin/node'));
  const where = ['--prefix', join(base, 'usr/local'), '--global'];
  command('npm', ['install', ...where, '--silent', '--no-audit', '--no-fund', 'npm@11']);
  // What other releases of these images have besides; the image must not keep it.
  mkdirSync(join(base, 'opt/yarn-v1.22.22/bin'), { recursive: true });
  for (const name of ['yarn', 'corepack']) {
    writeFileSync(join(base, 'usr/local/bin', name), '#!/bin/sh\n', { mode: 0o755 });
  }
  trustAsNpm(base);
  return base;
}

/** Lets npm in the image trust the authorities that Node.js or npm trusts here. */
function trustAsNpm(base: string): void {
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const authorities = NODE_EXTRA_CA_CERTS ?? command('npm', ['config', 'get', 'cafile']);
  if (!existsSync(authorities)) return;
  cpSync(realpathSync(authorities), join(base, 'usr/local/share/authorities.pem'));
  mkdirSync(join(base, 'usr/local/etc'), { recursive: true });
  writeFileSync(join(base, 'usr/local/etc/npmrc'), 'cafile=/usr/local/share/authorities.pem\n');
}
