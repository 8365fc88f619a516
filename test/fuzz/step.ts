/** A request, or bytes that are not one, and the response that the contract requires. */
export interface Step {
  readonly name: string;
  readonly bytes: string;
  /** The permitted statuses of the response; empty if there must be none. */
  readonly statuses: readonly number[];
  /** It may get no response: incomplete, or malformed after a request that is still being answered. */
  readonly isOptional?: boolean;
  /** The parser cannot read it as a request. */
  readonly isUnreadable?: boolean;
  /** The connection is closed after the response, and later bytes have no effect. */
  readonly closes?: boolean;
  /** The order that is cancelled if and only if the response is 200 or 204. */
  readonly cancels?: number;
  /** A 201 has the order that was placed. */
  readonly places?: true;
  /** The expected body of a 200. */
  readonly body?: 'list' | 'gzip' | 'none' | 'stream';
}
