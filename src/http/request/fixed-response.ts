import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { HeaderList } from '../error-records.ts';
import { matchesEtag } from './conditional.ts';
import { kept, MIN_COMPRESSED_BYTES } from './content-coding.ts';
import type { Exchange } from './exchange.ts';
import { sendReply } from './reply.ts';
import type { Router } from './router.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const QUALITY = constants.BROTLI_MAX_QUALITY;

/** The codings of files, the best first. The best quality takes half a second, once, on another thread. */
const CODINGS = {
  br: (text: Buffer) =>
    compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: (text: Buffer) => compressGzip(text, { level: constants.Z_BEST_COMPRESSION }),
  identity: async (text: Buffer) => text,
} as const;
type Coding = keyof typeof CODINGS;
/** What was coded, by ETag: the services of a process share it, as those of a test file do. */
const CODED = new Map<string, Buffer>();
const CODING_NAMES = Object.keys(CODINGS) as Coding[];

/** Caches must revalidate: another release can have another file at the path. */
const REVALIDATED = ['cache-control', 'no-cache'] as const;
/** For paths with a digest of the content. */
const KEPT = ['cache-control', 'public, max-age=31536000, immutable'] as const;

/** A file that stays the same while the process runs. */
export interface FixedFile {
  /** With the parameter {digest} if the path changes with the file. */
  readonly path: string;
  /** The value of {digest} in the path of the current file; the same file at other digests is not kept by caches. */
  readonly digest?: string | undefined;
  /** Its Content-Type. */
  readonly type: string;
  /** Makes the content, at the first request. */
  readonly make: () => string | Buffer | Promise<string | Buffer>;
}

interface Variant {
  readonly bytes: Buffer;
  readonly headers: HeaderList;
  readonly etag: string;
}

/** Adds a public route for a file, which is compressed for clients that accept it. */
export function addFixed(router: Router, file: FixedFile, headers: HeaderList = []): void {
  const made = new Map<Coding, Promise<Variant>>();
  router.addPublic(file.path, async (exchange) => {
    const coding = codingFor(exchange);
    const variant = await kept(made, coding, () => variantOf(file, coding));
    const isKept = file.digest !== undefined && exchange.parameters.digest === file.digest;
    const caching = [...(isKept ? KEPT : REVALIDATED), 'vary', 'Accept-Encoding'];
    const all = ['etag', variant.etag, ...caching, ...headers];
    const isKnown = matchesEtag(exchange.request.headers['if-none-match'], variant.etag);
    if (isKnown) sendReply(exchange, { status: 304, headers: all });
    else {
      const headers = [...all, ...variant.headers, 'content-type', file.type];
      sendReply(exchange, { status: 200, headers, body: variant.bytes });
    }
  });
}

async function variantOf({ make }: FixedFile, asked: Coding): Promise<Variant> {
  const content = await make();
  const text = typeof content === 'string' ? Buffer.from(content) : content;
  const isSmall = text.length < MIN_COMPRESSED_BYTES;
  const coding = isSmall ? 'identity' : asked;
  const name = hash('sha256', text, 'base64url');
  const isCoded = coding !== 'identity';
  const etag = isCoded ? `"${name}-${coding}"` : `"${name}"`;
  const bytes = CODED.get(etag) ?? (await CODINGS[coding](text));
  CODED.set(etag, bytes);
  return { bytes, headers: isCoded ? ['content-encoding', coding] : [], etag };
}

/** Returns the best coding that the client accepts, whatever the weights. */
function codingFor({ request }: Exchange): Coding {
  const accepted = new Negotiator(request).encodings(CODING_NAMES);
  return CODING_NAMES.find((each) => accepted.includes(each)) ?? 'identity';
}
