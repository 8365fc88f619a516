// node build/release-notes.ts VERSION: prints the section of a version in CHANGELOG.md, for the page of the release.
import { readFileSync } from 'node:fs';

const [version = ''] = process.argv.slice(2);
const text = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const sections = text.split(/^(?=## \[)/m);
const section = sections.find((each) => each.startsWith(`## [${version}]`));
if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}`);
process.stdout.write(`${section.split('\n').slice(1).join('\n').trim()}\n`);
