import { isUtf8 } from 'node:buffer';
import { type ExactJson, parseExactJson } from '../json/exact-json.ts';
import type { InputProblem, Validated } from './contract-validation.ts';

/** application/json, with the only charset there is for it (RFC 8259, section 11). */
const JSON_TYPE = /^application\/json[\t ]*(?:;[\t ]*charset="?utf-8"?[\t ]*)?$/i;

/** Whether a Content-Type says that the body is JSON. */
export function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType.trim());
}

/** The JSON value of a body, with every digit of its integers, as `validate` accepts it. */
export function readJsonBody<T>(
  bytes: Buffer,
  validate: (value: unknown) => Validated<T>,
): Validated<T> {
  const whole = (detail: string): { problems: InputProblem[] } => ({
    problems: [{ pointer: '', detail }],
  });
  if (!isUtf8(bytes)) return whole('is not valid UTF-8');
  let json: ExactJson;
  try {
    json = parseExactJson(bytes.toString('utf8'));
  } catch {
    return whole('is not valid JSON');
  }
  if (json.repeatedName !== undefined) {
    return whole(`has the field ${JSON.stringify(json.repeatedName.slice(0, 40))} twice`);
  }
  return validate(json.value);
}
