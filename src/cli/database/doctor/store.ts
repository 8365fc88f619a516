import { statSync } from 'node:fs';
import { positionText } from '../../../../protocol/history.ts';
import { type ApiKey, keyStatus, MAX_OVERLAP_MS } from '../../../domain/api-key.ts';
import { FEW_IDS, type FreeIds, idsLeft } from '../../../domain/ids.ts';
import { CLOCK_TOLERANCE_MS } from '../../../domain/key-clock.ts';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import type { Webhook } from '../../../domain/webhook.ts';
import { urlProblem } from '../../../feed/deliveries/addresses.ts';
import {
  readWebhookKey,
  type WebhookKey,
  WebhookKeyUnusable,
} from '../../../feed/deliveries/webhook-key.ts';
import type { Config } from '../../../service/settings/config.ts';
import type { AuditRecord } from '../../../store/audit.ts';
import { type Finding, ok, problem, warning } from '../../../store/diagnosis.ts';
import type { ImportRecord } from '../../../store/history.ts';
import { expectEnvironment } from '../../../store/open-options.ts';
import { StoreNotUsable, StoreUnavailable } from '../../../store/store.ts';
import type { Findings } from '../../../store/tables/consistency.ts';
import { describeImport } from '../../orders/import/imports.ts';
import { asStarted, counted, grouped } from '../../terminal/terminal.ts';

const SOON_MS = 14 * 86_400_000;

/** Checks the content of the store: its schema, its rows, its keys, and its latest change. */
export async function storeOf(config: Config): Promise<Finding[]> {
  const { database, environment } = config;
  try {
    if (!(await database.exists())) {
      return [ok('store', 'it does not exist yet; the service creates it when it starts')];
    }
    const checked = await database.check({ isSample: true, areRowsSampled: true });
    expectEnvironment(database.label, checked.environment, environment);
    const findings = [contentsOf, historyOf, auditOf, schemaOf].flatMap((find) => find(checked));
    const { schema, schemaDifferences, problems, movedTo } = checked;
    const isSound =
      schema.has === schema.knows && schemaDifferences.length === 0 && problems.length === 0;
    if (!isSound || movedTo !== undefined) return findings;
    return [...findings, ...(await usedStoreOf(config))];
  } catch (error) {
    if (!(error instanceof StoreNotUsable || error instanceof StoreUnavailable)) throw error;
    return [problem('store', error.message, 'see docs/troubleshooting.md')];
  }
}

function contentsOf({
  identity,
  orders,
  revision,
  movedTo,
  problems,
  foreign,
  isSample,
}: Findings): Finding[] {
  if (movedTo !== undefined) {
    const advice = 'use that one, or run "store-orders reactivate"';
    return [problem('store', `it was moved to ${movedTo}`, advice)];
  }
  const advice = foreign.some((each) => each.includes(': child '))
    ? 'first mend the schema: another table inherits from one of the store'
    : 'save a copy of the database, then restore a backup';
  if (problems.length > 0) return problems.map((each) => problem('store', each, advice));
  const counts = Object.entries(orders).map(([status, count]) => `${grouped(count)} ${status}`);
  const checked = isSample
    ? 'a sample of the rows is consistent ("store-orders check" reads all)'
    : 'every row is consistent';
  const found = `${counts.join(', ')}; revision ${revision}, and ${checked}; identity ${identity ?? 'none yet'}`;
  return [ok('store', found)];
}

/** Checks a sample of the history. An altered history is a warning: an operator may have altered it on purpose. */
function historyOf({ revision, head, heads }: Findings): Finding[] {
  if (heads === undefined) return [];
  if (head !== undefined && heads.problems.length === 0) {
    return [
      ok('history', `its end and a sample are unaltered; head ${positionText({ revision, head })}`),
    ];
  }
  const advice =
    'run "store-orders check" for all of it; after a correction on purpose, "store-orders rechain"';
  return heads.problems.map((each) => warning('history', each, advice));
}

/** An operator may have changed records or keys on purpose. */
function auditOf({ audit }: Findings): Finding[] {
  const advice = 'find out by whom; if it was on purpose, run "store-orders audit --acknowledge"';
  return audit.map((each) => warning('audit', each, advice));
}

function schemaOf({ schema: { has, knows }, schemaDifferences, foreign }: Findings): Finding[] {
  const undo = 'undo what was changed by hand, or restore a backup';
  const remove = 'remove it (DROP TRIGGER, DROP INDEX …), unless you have added it on purpose';
  const found = [
    ...schemaDifferences.map((each) => problem('schema', each, undo)),
    ...foreign.map((each) => problem('schema', each, remove)),
  ];
  if (found.length > 0) return found;
  if (has === knows) return [ok('schema', `${has} migrations, the schema of this release`)];
  const advice = 'make a backup; the service of this release migrates it when it starts';
  return [warning('schema', `${has} of ${knows} migrations: an earlier release made it`, advice)];
}

async function usedStoreOf({ database, environment, webhooks }: Config): Promise<Finding[]> {
  await using store = await database.open({ create: false, purpose: 'read' });
  const { latestAt, freeIds } = await store.status();
  return [
    ...lossesOf(await store.history.losses()),
    ...keysOf(await store.keys(), environment),
    ...clockOf(latestAt),
    idsOf(freeIds),
    ...importsOf(await store.history.imports()),
    ...webhooksOf(await store.webhooks(), webhooks),
  ];
}

function keysOf(all: readonly ApiKey[], environment: Config['environment']): Finding[] {
  const now = Date.now();
  const keys = all.filter(
    (key) => key.environment === environment && keyStatus(key, now) === 'valid',
  );
  if (keys.length === 0) {
    const advice = asStarted('npx store-orders keys create --name NAME');
    return [warning('keys', `there is no valid key for ${environment}`, advice)];
  }
  const overlaps = keys.flatMap((key) => overlapOf(key, now));
  const ending = keys.filter(
    ({ expiresAt }) => expiresAt !== undefined && expiresAt < now + SOON_MS,
  );
  if (ending.length === 0) return [ok('keys', counted(keys.length, 'valid key')), ...overlaps];
  const names = ending.map(({ id, name }) => `${name} (${id})`).join(', ');
  const advice = 'create and distribute new keys';
  return [warning('keys', `these keys expire within 14 days: ${names}`, advice), ...overlaps];
}

/** Names a former secret that is still valid; one that is longer than "keys rotate" can make it was written by hand. */
function overlapOf({ id, name, former }: ApiKey, now: number): Finding[] {
  if (former === undefined || former.until <= now) return [];
  const found = `the former secret of ${name} (${id}) is valid until ${formatTimestamp(former.until)}`;
  if (former.until <= now + MAX_OVERLAP_MS) return [ok('keys', found)];
  return [
    problem('keys', found, `run "store-orders keys rotate ${id} --end-overlap", and see "audit"`),
  ];
}

function lossesOf(losses: readonly AuditRecord[]): Finding[] {
  const advice =
    'tell integrators ("After a failover that lost changes" in docs/postgresql-failover.md), then run "store-orders audit --acknowledge"';
  return losses.map(({ at, what }) =>
    problem('history', `changes are lost, as of ${formatTimestamp(at)}: ${what}`, advice),
  );
}

function importsOf(imports: readonly ImportRecord[]): Finding[] {
  const unfinished = imports.filter(({ finishedAt }) => finishedAt === undefined);
  const advice = 'import the file again, or run "store-orders imports forget"';
  return unfinished.map((each) =>
    warning('imports', `an import is not finished: ${describeImport(each)}`, advice),
  );
}

function idsOf(free: FreeIds): Finding {
  const found = `${grouped(idsLeft(free))} ids are left for new orders`;
  if (idsLeft(free) >= FEW_IDS) return ok('ids', found);
  const advice = 'set another last id with "store-orders ids --last"';
  return warning(
    'ids',
    `${found}: ids up to ${free.highest} are taken, and the last id is ${free.last}`,
    advice,
  );
}

function clockOf(latestAt: number | undefined): Finding[] {
  if (latestAt === undefined) return [];
  const aheadMs = latestAt - Date.now();
  if (aheadMs < CLOCK_TOLERANCE_MS) return [ok('clock', 'not behind the latest change')];
  const found = `the clock of this machine is ${Math.round(aheadMs / 1_000)} s behind the latest change`;
  return [warning('clock', found, 'synchronize the clocks of all machines by NTP')];
}

/** Checks whether the webhooks of a store can be delivered with these settings. */
function webhooksOf(webhooks: readonly Webhook[], settings: Config['webhooks']): Finding[] {
  if (webhooks.length === 0) return [];
  const why = 'from which the secrets of webhooks are derived';
  const rights = rightsOf('webhooks', settings.keyFile?.path, why);
  return [keyOf(webhooks, settings), ...rights, ...endpointsOf(webhooks, settings)];
}

function keyOf(webhooks: readonly Webhook[], { keyFile }: Config['webhooks']): Finding {
  const advice = 'restore the file, or rotate the secrets ("store-orders webhooks rotate")';
  let key: WebhookKey | undefined;
  try {
    key = keyFile && readWebhookKey(keyFile);
  } catch (error) {
    if (!(error instanceof WebhookKeyUnusable)) throw error;
    return problem('webhooks', error.message, advice);
  }
  if (keyFile === undefined) {
    const found = 'WEBHOOK_KEY_FILE is not set, so webhooks are not delivered';
    return problem('webhooks', found, 'set it to the webhook key of the store, on all nodes');
  }
  if (key === undefined) return problem('webhooks', `${keyFile.path} does not exist`, advice);
  const others = webhooks.filter(({ keyName }) => keyName !== key.name);
  if (others.length === 0)
    return ok('webhooks', `${counted(webhooks.length, 'webhook')}, all of this key`);
  const found = `${keyFile.path} is not the webhook key of ${namesOf(others)}`;
  return problem('webhooks', found, advice);
}

/** Checks that only the owner can read a file. @param why it is secret, after its name */
export function rightsOf(subject: string, path: string | undefined, why: string): Finding[] {
  const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o077) === 0) return [];
  return [warning(subject, `other users may read ${path}, ${why}`, `chmod 600 ${path}`)];
}

function endpointsOf(webhooks: readonly Webhook[], { allowed }: Config['webhooks']): Finding[] {
  const find = (isWrong: (webhook: Webhook) => boolean) => webhooks.filter(isWrong);
  const advice = '"store-orders webhooks show ID" has the last failure';
  const groups = [
    {
      found: 'were paused by the service',
      of: find(({ pauseReason }) => pauseReason !== undefined && pauseReason !== 'requested'),
      advice: `${advice}; resume them when their endpoints work, or set the positions of those whose history is gone`,
    },
    {
      found: 'fail',
      of: find(({ pauseReason, failures }) => pauseReason === undefined && failures > 0),
      advice,
    },
    {
      found: 'have URLs that may not be called',
      of: find(({ url }) => urlProblem(url, allowed) !== undefined),
      advice: 'permit them with WEBHOOK_ALLOW, or delete them',
    },
  ];
  return groups
    .filter(({ of }) => of.length > 0)
    .map(({ found, of, advice: what }) => warning('webhooks', `${namesOf(of)} ${found}`, what));
}

function namesOf(webhooks: readonly Webhook[]): string {
  const shown = webhooks.slice(0, 5).map(({ id }) => id);
  return webhooks.length > 5 ? `${shown.join(', ')} and others` : shown.join(', ');
}
