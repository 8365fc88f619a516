import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadAll } from 'js-yaml';
import { SETTINGS } from '../src/service/settings/table.ts';

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly [probe: `${string}Probe`]: {
    readonly httpGet: { readonly path: string; readonly port: string };
  };
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly securityContext: object;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers: readonly Container[];
    readonly volumes: readonly { readonly name: string }[];
  };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: object;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another one
  readonly spec: any;
}

const FILE = new URL('../deploy/kubernetes/store-orders.yaml', import.meta.url);
const MANIFESTS = loadAll(readFileSync(FILE, 'utf8')) as Manifest[];
const ofKind = (kind: string) => MANIFESTS.find((each) => each.kind === kind)!;
const template = (kind: string): PodTemplate => ofKind(kind).spec.template;

test('the manifests are of known kinds and versions, in their own namespace', () => {
  assert.deepEqual(
    MANIFESTS.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
    [
      ...['v1 Namespace', 'v1 ServiceAccount', 'batch/v1 Job', 'apps/v1 Deployment', 'v1 Service'],
      ...['policy/v1 PodDisruptionBudget', 'networking.k8s.io/v1 NetworkPolicy'],
    ],
  );
  for (const { metadata, kind } of MANIFESTS) {
    if (kind !== 'Namespace') assert.equal(metadata.namespace, 'store-orders', metadata.name);
  }
});

test('the pods meet the restricted Pod Security Standard', () => {
  for (const kind of ['Job', 'Deployment']) {
    const { spec } = template(kind);
    assert.deepEqual(spec.securityContext, {
      ...{ runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001 },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    for (const { securityContext, resources, volumeMounts } of spec.containers) {
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok(resources.limits.memory);
      const volumes = spec.volumes.map(({ name }) => name);
      for (const { name } of volumeMounts) assert.ok(volumes.includes(name), name);
    }
  }
});

test('the nodes have known settings, and probes at ports that they have', () => {
  const { spec, metadata } = template('Deployment');
  const [node] = spec.containers;
  for (const { name } of node!.env) assert.ok(name in SETTINGS || name === 'TMPDIR', name);
  const ports = Object.fromEntries(node!.ports!.map((each) => [each.name, each.containerPort]));
  assert.deepEqual(ports, { http: 8080, admin: 8081 });
  const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => {
    const { path, port } = node![probe as 'startupProbe']!.httpGet;
    assert.ok(port in ports);
    return path;
  });
  assert.deepEqual(paths, ['/livez', '/livez', '/readyz']);
  // DRAIN_SECONDS and STOP_LIMIT_SECONDS, by default.
  assert.ok(spec.terminationGracePeriodSeconds! > 5 + 10);
  assert.equal(node!.image, template('Job').spec.containers[0]!.image);
  const { selector } = ofKind('Service').spec;
  const budget = ofKind('PodDisruptionBudget').spec.selector.matchLabels;
  for (const labels of [selector, budget, ofKind('Deployment').spec.selector.matchLabels]) {
    assert.deepEqual(labels, metadata.labels);
  }
});

test('only the requests of clients come from everywhere', () => {
  const { ingress, policyTypes } = ofKind('NetworkPolicy').spec;
  assert.deepEqual(policyTypes, ['Ingress']);
  for (const { from, ports } of ingress) {
    const names = ports.map(({ port }: { port: string }) => port);
    assert.deepEqual(names, from === undefined ? ['http'] : ['admin']);
  }
});
