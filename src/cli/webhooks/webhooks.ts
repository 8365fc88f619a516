import { Command } from 'commander';
import { createCommand } from './create.ts';
import { listWebhooksCommand, showWebhookCommand } from './list.ts';
import { listenCommand } from './listen.ts';
import {
  deleteCommand,
  pauseCommand,
  resumeCommand,
  rewindCommand,
  rotateCommand,
  testCommand,
} from './manage.ts';

export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'manage the webhooks to which the service sends changes, and try them',
  );
  const commands = [
    createCommand(),
    listWebhooksCommand(),
    showWebhookCommand(),
    pauseCommand(),
    resumeCommand(),
    rewindCommand(),
    rotateCommand(),
    testCommand(),
    deleteCommand(),
    listenCommand(),
  ];
  for (const command of commands) webhooks.addCommand(command);
  return webhooks;
}
