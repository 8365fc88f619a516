// npm test -- alerts: promtool checks the rules for Prometheus, runs their unit tests, and parses the queries of the
// dashboard. npm test needs no promtool; it compares the names in them with the metrics of the service.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DEPLOY = fileURLToPath(new URL('../deploy', import.meta.url));
/** The sunset tests take the longest, about half a second. */
const LIMIT_MS = 60_000;

/** Runs promtool in the folder of the rules. @returns whether it succeeded */
function promtool(...args: string[]): boolean {
  const { error, status } = spawnSync('promtool', args, {
    cwd: join(DEPLOY, 'prometheus'),
    stdio: 'inherit',
    timeout: LIMIT_MS,
  });
  if (error !== undefined) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const what = isMissing
      ? 'promtool is not installed; it comes with Prometheus (apt-get install prometheus, or https://prometheus.io/download/)'
      : `promtool: ${error.message}`;
    process.stderr.write(`${what}\n`);
    process.exit(1);
  }
  return status === 0;
}

/** The dashboard's queries as recording rules, with its variables replaced. */
function dashboardRules(): string {
  const rules: { record: string; expr: string }[] = [];
  JSON.parse(readFileSync(join(DEPLOY, 'grafana/store-orders.json'), 'utf8'), (name, value) => {
    if (name !== 'expr') return value;
    const expr = value.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, 'x');
    rules.push({ record: `dashboard:query_${rules.length}`, expr });
    return value;
  });
  // JSON is YAML.
  return JSON.stringify({ groups: [{ name: 'dashboard', rules }] });
}

const folder = mkdtempSync(join(tmpdir(), 'store-orders-alerts-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const queries = join(folder, 'dashboard.yml');
writeFileSync(queries, dashboardRules());
const results = [
  promtool('check', 'rules', 'rules.yml', queries),
  promtool('test', 'rules', 'rules.test.yml', 'sunset.test.yml'),
];
process.exitCode = results.every(Boolean) ? 0 : 1;
