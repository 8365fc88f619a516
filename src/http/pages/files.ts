import { hash } from 'node:crypto';
import { asset } from '../../assets.ts';
import { NO_BODY } from '../connection/bodies.ts';
import type { HeaderList } from '../error-records.ts';
import { addFixed, type FixedFile } from '../request/fixed-response.ts';
import { refuse, sendReply } from '../request/reply.ts';
import type { Router } from '../request/router.ts';
import { MARK } from './html.ts';

/** Adds the files of a page, which need no API key. */
export function addFiles(router: Router, files: readonly FixedFile[], headers: HeaderList): void {
  for (const file of files) {
    addFixed(router, { ...file, type: `${file.type}; charset=utf-8` }, headers);
  }
}

/**
 * Returns the security headers of a page: no other host, no inline script or style, no frame around it, and by Trusted Types no text that
 * becomes markup.
 * @param markupBy the names of the Trusted Types policies that may make markup
 */
export function securityHeaders(markupBy: readonly string[]): HeaderList {
  const policy = [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    "require-trusted-types-for 'script'",
    `trusted-types ${markupBy.length === 0 ? "'none'" : markupBy.join(' ')}`,
  ];
  return [
    ...['content-security-policy', policy.join('; ')],
    ...['referrer-policy', 'no-referrer', 'cross-origin-opener-policy', 'same-origin'],
  ];
}

/** Returns the styles of a page, after base.css. @param files from the root */
export function stylesOf(...files: readonly string[]): string {
  return ['src/http/pages/base.css', ...files].map(asset).join('');
}

/** Adds the icon of the pages, and redirects browsers from typed paths to the page. */
export function addEntrances(
  router: Router,
  { hasConsole }: { readonly hasConsole: boolean },
): void {
  const icon = { type: 'image/svg+xml', make: () => ICON };
  for (const path of ['/favicon.ico', '/favicon.svg']) addFixed(router, { ...icon, path });
  addRedirect(router, '/', hasConsole ? '/console' : '/reference');
  addRedirect(router, '/reference/', '/reference');
  if (hasConsole) addRedirect(router, '/console/', '/console');
}

/** Adds a public route that redirects browsers to a page; other clients get 404. */
function addRedirect(router: Router, path: string, to: string): void {
  router.addPublic(path, (exchange) => {
    const isBrowser = exchange.request.headers.accept?.includes('text/html') === true;
    const headers = ['location', to, 'cache-control', 'no-cache', 'vary', 'Accept'];
    sendReply(exchange, isBrowser ? { status: 302, headers, body: NO_BODY } : refuse('not_found'));
  });
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#fff" stroke-width="1.5" stroke-linejoin="round"><rect width="24" height="24" rx="6" fill="#17694a" stroke="none"/><path d="${MARK}"/></svg>`;

/** Returns a digest of files, for their paths. */
export function filesDigest(texts: readonly string[]): string {
  return hash('sha256', texts.join(''), 'base64url').slice(0, 12);
}
