import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/store-orders', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../node_modules/@sparticuz/chromium', import.meta.url));

/** Starts a headless browser. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch(launchOptions());
}

/** On x64 Linux, the Chromium of an npm package; elsewhere, an installed Chrome. */
function launchOptions(): LaunchOptions {
  const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error('The browser tests use the installed Chrome; on x64 Linux they bring their own.');
    return { channel: 'chrome', args };
  }
  const folder = unpackedChromium();
  // Chromium's sandbox needs an ordinary user.
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  return {
    executablePath: join(folder, 'chromium'),
    args: [...args, '--disable-gpu', '--headless=new'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'lib'),
      FONTCONFIG_PATH: folder,
      LANG: 'en_US.UTF-8',
    } as Record<string, string>,
  };
}

/** Returns the folder of the unpacked browser; unpacks it if this is the first use, which takes some seconds. */
function unpackedChromium(): string {
  const bin = join(PACKAGE, 'bin');
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const folder = join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  // Another test file may do the same: the folder appears whole, or not at all.
  const unpacking = mkdtempSync(join(CACHE, 'unpacking-'));
  for (const name of ['al2023.tar', 'fonts.tar']) {
    const input = brotliDecompressSync(readFileSync(join(bin, `${name}.br`)));
    execFileSync('tar', ['-x', '-C', unpacking], { input });
  }
  // The package's own file names folders of another system. Without any font, pages crash.
  writeFileSync(
    join(unpacking, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><dir prefix="relative">fonts</dir><dir>/usr/share/fonts</dir></fontconfig>`,
  );
  const program = brotliDecompressSync(readFileSync(join(bin, 'chromium.br')));
  writeFileSync(join(unpacking, 'chromium'), program, { mode: 0o755 });
  try {
    renameSync(unpacking, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(unpacking, { recursive: true });
  }
  return folder;
}
