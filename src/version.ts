import packageJson from '../package.json' with { type: 'json' };

/** The release, as in package.json and CHANGELOG.md. The contract has a version of its own. */
export const VERSION = packageJson.version;
