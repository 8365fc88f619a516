import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { CACHE, madeOnce } from '../made-once.ts';

const PACKAGE = fileURLToPath(new URL('../../node_modules/@sparticuz/chromium', import.meta.url));

/** Starts a headless browser. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch(await launchOptions());
}

/** On x64 Linux, the Chromium of an npm package; elsewhere, an installed Chrome. */
async function launchOptions(): Promise<LaunchOptions> {
  const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error('The browser tests use the installed Chrome; on x64 Linux they bring their own.');
    return { channel: 'chrome', args };
  }
  const folder = await unpackedChromium();
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
async function unpackedChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const folder = join(CACHE, `chromium-${version}`);
  await madeOnce(folder, unpack);
  return folder;
}

function unpack(folder: string): void {
  mkdirSync(folder);
  const read = (name: string) => brotliDecompressSync(readFileSync(join(PACKAGE, 'bin', name)));
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
    execFileSync('tar', ['-x', '-C', folder], { input: read(name) });
  }
  // The package's own file names folders of another system. Without any font, pages crash.
  writeFileSync(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><dir prefix="relative">fonts</dir><dir>/usr/share/fonts</dir></fontconfig>`,
  );
  writeFileSync(join(folder, 'chromium'), read('chromium.br'), { mode: 0o755 });
}
