// npm run release: checks that this commit can be released, and writes what a release consists of to release/: both npm
// packages and their checksums. It tags and publishes nothing; it prints the commands for that.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'release');

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** Why this commit cannot be released; empty if it can. */
function obstacles(version: string): string[] {
  const found: string[] = [];
  const changelog = read('CHANGELOG.md');
  const heading = new RegExp(`^## \\[${RegExp.escape(version)}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm');
  if (git('status', '--porcelain') !== '') found.push('the working tree has changes');
  if (git('tag', '--list', `v${version}`) !== '') found.push(`the tag v${version} exists`);
  if (!heading.test(changelog)) {
    found.push(`CHANGELOG.md has no heading "## [${version}] - YYYY-MM-DD"`);
  }
  if (!/^## \[Unreleased\]\n\n## \[/m.test(changelog)) {
    found.push('CHANGELOG.md has unreleased changes, or no heading "## [Unreleased]"');
  }
  for (const contract of ['v1.yaml', 'v2.yaml']) {
    if (read(`contract/${contract}`) !== read(`contract/released/${contract}`)) {
      found.push(`contract/released/${contract} is not a copy of contract/${contract}`);
    }
  }
  return found;
}

/** Writes the packages; npm gives every file of a tarball the same time, so the same commit gives the same bytes. */
function pack(): void {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT);
  for (const folder of [ROOT, join(ROOT, 'client')]) {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', OUT], { cwd: folder });
  }
  const sums = readdirSync(OUT)
    .sort()
    .map((name) => {
      const digest = createHash('sha256')
        .update(readFileSync(join(OUT, name)))
        .digest('hex');
      return `${digest}  ${name}\n`;
    });
  writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''));
}

/** The command that publishes a package; "./" keeps npm from taking the path for the name of a repository. */
function publishCommand(name: string): string {
  const isBeta = /\d-beta/.test(name);
  return `  npm publish --provenance --access public${isBeta ? ' --tag beta' : ''} ./release/${name}\n`;
}

const { version } = JSON.parse(read('package.json')) as { version: string };
const found = obstacles(version);
if (found.length > 0) {
  process.stderr.write(
    `${version} cannot be released from this commit:\n- ${found.join('\n- ')}\n`,
  );
  process.exitCode = 1;
} else {
  pack();
  const tarballs = readdirSync(OUT).filter((name) => name.endsWith('.tgz'));
  process.stdout.write(read('release/SHA256SUMS'));
  process.stdout.write(`\nNext, once CI is green for this commit:
  git tag --sign v${version} --message "store-orders ${version}" && git push origin v${version}
and in CI, for that tag, with permission for provenance (id-token: write):
${tarballs.map(publishCommand).join('')}`);
}
