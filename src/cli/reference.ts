import { Command } from 'commander';
import { staticReference } from '../../reference/reference.ts';
import { Contract } from '../http/contract/contract.ts';
import { UsageError, writeOut } from './terminal/terminal.ts';

export function referenceCommand(): Command {
  return new Command('reference')
    .description('write the API reference as an HTML file to stdout, for a documentation site')
    .requiredOption(
      '--base-url <url>',
      'public URL of the service, such as https://api.store.example',
    )
    .addHelpText(
      'after',
      `
Example:
  npx store-orders reference --base-url https://api.store.example > reference.html`,
    )
    .action(async ({ baseUrl }: { baseUrl: string }) => {
      if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl)) {
        throw new UsageError(`--base-url must be a URL, not "${baseUrl}"`);
      }
      const rootUrl = new URL(baseUrl).href.replace(/\/+$/, '').replace(/\/v[12]$/, '');
      await writeOut(staticReference([Contract.load('v1'), Contract.load('v2')], rootUrl));
    });
}
