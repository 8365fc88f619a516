import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../postgres.ts';
import { run } from '../../process/program.ts';
import { succeed } from '../command.ts';
import type { Deployment } from '../histories/deployment.ts';
import { Node } from '../histories/node.ts';
import { Trial } from '../histories/trial.ts';
import { isChosen, type Part, type PartOptions, type Result } from '../part.ts';
import { Random } from '../random.ts';
import { buildShim } from '../shim/build.ts';
import { NODES_HOST, PatroniCluster } from './cluster.ts';
import { failoverFaults } from './faults.ts';

const NODES = 3;
/** Nodes that connect through HAProxy; the others have all members in their URL. */
const BY_PROXY = 1;

const ALL = 'all faults';
/** Of the faults, the shortest first. */
const SHORTEST = 3;

/** `npm run torture -- failover`: the histories of clients, beside Patroni, etcd and HAProxy. */
export const failover: Part = {
  name: 'failover',
  minutes: 12,
  scenarios: [ALL, 'the shortest three'],
  run: async ({ folder, seed, minutes, only, fault, report }: PartOptions): Promise<Result> => {
    const most = isChosen(ALL, only) ? Number.POSITIVE_INFINITY : SHORTEST;
    const shim = buildShim(folder);
    if ('reason' in shim) return { outcome: 'skipped', reason: shim.reason };
    const deployment = await deploy(folder, shim.path, most);
    if (typeof deployment === 'string') return { outcome: 'skipped', reason: deployment };
    const trial = new Trial(deployment, new Random(seed), { fault, report });
    const found = await trial.run(minutes * 60_000).finally(deployment.end);
    report(found.summary);
    const figures = `${found.operations} operations`;
    if (found.findings.length > 0) {
      const kept = join(process.cwd(), 'torture-findings', `${seed}-failover`);
      rmSync(kept, { recursive: true, force: true });
      mkdirSync(kept, { recursive: true });
      for (const name of readdirSync(folder).filter((each) => each.endsWith('.log'))) {
        copyFileSync(join(folder, name), join(kept, name));
      }
      return { outcome: 'failed', findings: [...found.findings, `  logs: ${kept}`], figures };
    }
    if (found.undecided !== undefined) return { outcome: 'undecided', reason: found.undecided };
    return { outcome: 'passed', figures };
  },
};

/** @returns the reason if it cannot run here */
async function deploy(folder: string, shim: string, most: number): Promise<Deployment | string> {
  const cluster = await PatroniCluster.start(folder);
  if (typeof cluster === 'string') return cluster;
  const key = join(folder, 'webhook.key');
  writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 });
  const env = { WEBHOOK_KEY_FILE: key, WEBHOOK_ALLOW: '198.18.0.0/15,http' };
  const nodes: Node[] = [];
  for (let index = 1; index <= NODES; index += 1) {
    const database = index <= BY_PROXY ? cluster.proxyUrl : cluster.url;
    const own = { name: `node-${index}`, host: '127.0.0.1', port: await freePort(), database };
    nodes.push(new Node({ ...own, folder, shim, root: folder, env, wrapper: [] }));
  }
  for (const node of nodes) node.start();
  const report = () => expectReported(folder, nodes, cluster.url);
  return {
    name: 'PostgreSQL under Patroni',
    ...{ nodes, env, folder, host: NODES_HOST, database: cluster.url },
    faults: failoverFaults(cluster, report).slice(0, most),
    hasOwnFaultsOnly: true,
    skipped: [],
    end: async () => {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
      for (const machine of cluster.machines) machine.signal('SIGKILL');
    },
  };
}

/**
 * Log, doctor and metrics of the nodes must report that acknowledged changes are lost, until they are acknowledged.
 * @throws Error
 */
async function expectReported(
  folder: string,
  nodes: readonly Node[],
  database: string,
): Promise<void> {
  const logs = nodes.map(({ name }) => readFileSync(join(folder, `${name}.log`), 'utf8'));
  if (!logs.some((log) => log.includes('acknowledged changes are lost'))) {
    throw new Error('no node has logged that changes are lost');
  }
  const port = /"Admin listening at http:\/\/127\.0\.0\.1:(\d+)"(?!.*"Admin listening)/s.exec(
    logs[0]!,
  )?.[1];
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  if (!/^store_orders_lost_histories [1-9]/m.test(metrics)) {
    throw new Error('no metric reports that changes are lost');
  }
  const { stdout } = await run(['doctor', '--database', database]);
  if (!/changes are lost/.test(stdout)) throw new Error(`doctor reports no loss:\n${stdout}`);
  await succeed(['audit', '--acknowledge', '--database', database]);
}
