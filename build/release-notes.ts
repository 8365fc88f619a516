// node build/release-notes.ts VERSION: prints the section of a version in CHANGELOG.md, for the page of the release.
import { readFileSync } from 'node:fs';

const [version = ''] = process.argv.slice(2);
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const { repository } = JSON.parse(read('package.json')) as { repository: { url: string } };
/** Links within the repository lead to the tag. */
const atTag = `${repository.url.replaceAll(/^git\+|\.git$/g, '')}/blob/v${version}/`;
const text = read('CHANGELOG.md').replaceAll(/\]\((?=[\w./]+\))(?!https?:)/g, `](${atTag}`);
const sections = text.split(/^(?=## \[)/m);
const section = sections.find((each) => each.startsWith(`## [${version}]`));
if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}`);
process.stdout.write(`${section.split('\n').slice(1).join('\n').trim()}\n`);
