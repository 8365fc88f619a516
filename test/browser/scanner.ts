import type { Page } from 'playwright-core';

/** A scanner types a code, a key each 10 ms by default, and ends it with Enter. The times are given, since those of a busy machine would be longer. */
export async function scan(page: Page, code: string, keyMs = 10): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const begin = Date.now() / 1_000;
  const sent = [...code, 'Enter'].flatMap((key, index) => {
    const text = key === 'Enter' ? '\r' : key;
    const [timestamp, windowsVirtualKeyCode] = [
      begin + (index * keyMs) / 1_000,
      text.charCodeAt(0),
    ];
    const named = { key, text, timestamp, windowsVirtualKeyCode };
    return (['keyDown', 'keyUp'] as const).map((type) =>
      session.send('Input.dispatchKeyEvent', { type, ...named }),
    );
  });
  await Promise.all(sent);
  await session.detach();
}

/** Types a code and Enter with these times between the keys, by the clock of the page, which stands still from then on. */
export async function scanAt(page: Page, code: string, keyMs: readonly number[]): Promise<void> {
  for (const [index, key] of [...code, 'Enter'].entries()) {
    await page.clock.runFor(keyMs[index] ?? keyMs.at(-1)!);
    await page.keyboard.press(key);
  }
}

/** Has the page a clock that stands still. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
}
