import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Registry } from '@prometheus-io/client';
import { load } from 'js-yaml';
import { FAULTS } from '../../src/store/store.ts';
import { startService } from '../http/harness.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface UnitTest {
  readonly input_series: readonly { readonly series: string }[];
  readonly promql_expr_test: readonly { readonly expr: string; readonly exp_samples: unknown[] }[];
}

const yaml = <T>(name: string) => load(read(`deploy/prometheus/${name}`)) as T;
const rules = yaml<{ groups: { rules: Rule[] }[] }>('rules.yml').groups.flatMap(
  (group) => group.rules,
);
const alerts = rules.flatMap(({ alert, ...rest }) =>
  alert === undefined ? [] : { alert, ...rest },
);
const unitTests = ['rules.test.yml', 'sunset.test.yml'].flatMap(
  (name) => yaml<{ tests: UnitTest[] }>(name).tests,
);
const dashboard = read('deploy/grafana/store-orders.json');

/** Every "expr" of the dashboard, wherever it is in there. */
function dashboardExpressions(): string[] {
  const found: string[] = [];
  JSON.parse(dashboard, (name, value) => {
    if (name === 'expr') found.push(value);
    return value;
  });
  return found;
}

/** Labels that Prometheus adds to every series. */
/** The namespace is that of Kubernetes, where there is one. */
const TARGET = ['job', 'namespace', 'instance'];
const OF_PROMETHEUS = {
  up: [],
  ALERTS: ['alertname', 'alertstate', 'severity'],
};

/** The names of series that there are, with the names of their labels. */
async function exported(registry: Registry): Promise<Map<string, readonly string[]>> {
  const names = new Map<string, readonly string[]>(Object.entries(OF_PROMETHEUS));
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: string[] };
    if (String(type) !== 'histogram') names.set(name, labelNames);
    else {
      names.set(`${name}_bucket`, [...labelNames, 'le']);
      for (const end of ['sum', 'count']) names.set(`${name}_${end}`, labelNames);
    }
  }
  return names;
}

/** Words of PromQL that are neither series nor labels. */
const WORDS = /^(sum|max|by|on|and|or|unless|offset|rate|increase|changes|absent|vector|time)$/;
const FUNCTIONS = /^(histogram_quantile|clamp_max|group_left|last_over_time)$/;

/** What an expression names: series with the labels they are selected by, and the labels it groups by. */
function namesIn(expr: string) {
  const selected = [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].map(([, name, labels]) => ({
    name: name!,
    labels: [...labels!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  }));
  const groupings = [...expr.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g)];
  const rest = expr
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|on|without|ignoring)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\b\d[\w.]*/g, ' ');
  return {
    selected,
    grouped: groupings.flatMap(([, list]) => list!.match(/\w+/g) ?? []),
    series: (rest.match(/[a-zA-Z_:][\w:]*/g) ?? []).filter(
      (word) => !WORDS.test(word) && !FUNCTIONS.test(word),
    ),
  };
}

/** Asserts that `expr` names only series of `known`, with labels that they have. */
function assertKnown(expr: string, known: ReadonlyMap<string, readonly string[]>): void {
  const { selected, grouped, series } = namesIn(expr);
  assert.ok(series.length > 0, `no series in ${expr}`);
  for (const name of series) assert.ok(known.has(name), `no metric ${name}: ${expr}`);
  const labelsOf = (name: string) => [...TARGET, ...(known.get(name) ?? [])];
  for (const { name, labels } of selected) {
    for (const label of labels) {
      assert.ok(labelsOf(name).includes(label), `${name} has no label ${label}: ${expr}`);
    }
  }
  for (const label of grouped) {
    assert.ok(
      series.some((name) => labelsOf(name).includes(label)),
      `no label ${label}: ${expr}`,
    );
  }
}

/** What a recorded series is grouped by. */
function recordedLabels(expr: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const { grouped, series } = namesIn(expr);
  return [...grouped, ...series.flatMap((name) => (name.includes(':') ? known.get(name)! : []))];
}

test('every metric and label in rules, their tests and the dashboard is one of the service', async (t) => {
  const { metrics } = await startService(t);
  const known = await exported(metrics.registry);
  for (const { record, expr } of rules) {
    assertKnown(expr, known);
    if (record !== undefined) known.set(record, recordedLabels(expr, known));
  }
  for (const { input_series, promql_expr_test } of unitTests) {
    for (const { series } of input_series) assertKnown(series, known);
    for (const { expr } of promql_expr_test) assertKnown(expr, known);
  }
  const shown = dashboardExpressions();
  assert.ok(shown.length > 20);
  for (const expr of shown) assertKnown(expr, known);
});

test('the check of names detects metrics and labels that do not exist', () => {
  const known = new Map([['orders', ['status']]]);
  assertKnown('sum by (status) (rate(orders{job="a", status=~"5.."}[5m])) > 0.01', known);
  for (const wrong of [
    'rate(order[5m])',
    'orders{state="x"}',
    'sum by (state) (orders)',
    'orders or order{job="a"}',
  ]) {
    assert.throws(() => assertKnown(wrong, known), assert.AssertionError, wrong);
  }
});

test('every alert has a unit test in which it fires, and one in which it does not', () => {
  const tested = unitTests.flatMap(({ promql_expr_test }) => promql_expr_test);
  for (const { alert } of alerts) {
    const own = tested.filter(({ expr }) => expr.includes(`alertname="${alert}"`));
    assert.ok(
      own.some(({ exp_samples }) => exp_samples.length > 0),
      `${alert} never fires`,
    );
    assert.ok(
      own.some(({ exp_samples }) => exp_samples.length === 0),
      `${alert} always fires`,
    );
  }
});

test('every alert has a summary, a description and a runbook in docs/', () => {
  const anchorsOf = (page: string) =>
    [...read(page).matchAll(/^#{2,} (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels?.severity ?? '', /^(page|ticket)$/, alert);
    assert.ok(annotations?.summary && annotations.description, alert);
    const [page, anchor] = (annotations.runbook ?? '').split('#');
    assert.match(page!, /^docs\/[\w-]+\.md$/, alert);
    const anchors = anchorsOf(page!);
    assert.ok(anchor === undefined || anchors.includes(anchor), `${alert}: no heading #${anchor}`);
  }
});

test('every fault of the store has an alert', () => {
  const causes = alerts.flatMap(
    ({ expr }) => /cause=~?"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? [],
  );
  assert.deepEqual(causes.sort(), FAULTS.toSorted());
});

test('panels have a title, a description and a unit, and read the chosen data source', () => {
  const { panels } = JSON.parse(dashboard);
  for (const { type, title, description, datasource, fieldConfig } of panels) {
    if (type === 'row') continue;
    assert.ok(title && description, title);
    assert.equal(datasource.uid, `\${datasource}`, title);
    assert.ok(type === 'table' || fieldConfig.defaults.unit, title);
  }
});

test('the systemd units differ only in what makes them one process or several', () => {
  const settings = (name: string) =>
    read(`deploy/systemd/${name}`)
      .replaceAll(/^#.*\n/gm, '')
      .replace(', with admin port %i', '')
      .replace(' --reuse-port --operations-port %i', '');
  assert.equal(settings('store-orders@.service'), settings('store-orders.service'));
});
