import { presentWebhook, saveWebhookBody } from '@vat/contracts';
import type { NewWebhook } from '@vat/db';
import { AppError, type WebhookConfiguration } from '@vat/domain';
import { newWebhookSecret, secretPrefix, type UrlValidation } from '@vat/webhooks';
import type { RequestHandler } from 'express';
import { parse } from '../http/parse.js';
import { type RequireSessionDeps, sessionAgain, sessionOf } from './session.js';

export type WebhookSettingsDeps = RequireSessionDeps & {
  validateUrl: (text: string) => Promise<UrlValidation>;
  sealSecret: (accountId: string, secret: string) => Uint8Array;
  findWebhook: (accountId: string) => Promise<WebhookConfiguration | null>;
  /** False when the account was erased. */
  saveWebhook: (webhook: NewWebhook) => Promise<boolean>;
  removeWebhook: (accountId: string, now: Date) => Promise<boolean>;
};

const notConfigured = (): AppError => new AppError('NOT_FOUND', { message: 'No webhook is configured.' });

/**
 * The routes of /app/api/webhook, the only way to configure an account's endpoint, and of /app/api/settings, which does not
 * answer 404 without one.
 */
export const webhookSettings = (deps: WebhookSettingsDeps) => {
  const show: RequestHandler = async (_req, res) => {
    const webhook = await deps.findWebhook(sessionOf(res).accountId);
    if (!webhook) throw notConfigured();
    res.json(presentWebhook(webhook));
  };

  const settings: RequestHandler = async (_req, res) => {
    const webhook = await deps.findWebhook(sessionOf(res).accountId);
    res.json({ webhook: webhook && presentWebhook(webhook) });
  };

  const save: RequestHandler = async (req, res) => {
    const validation = await deps.validateUrl(parse(saveWebhookBody, req.body).url);
    if (!validation.ok) throw new AppError('INVALID_WEBHOOK_URL', { message: validation.message });
    // The name may take seconds to resolve. Meanwhile the session can end, and the role can change.
    const { accountId } = await sessionAgain(deps, req, 'change');
    const secret = newWebhookSecret();
    const webhook = { url: validation.url, secretPrefix: secretPrefix(secret), configuredAt: deps.now() };
    const isSaved = await deps.saveWebhook({ ...webhook, accountId, secretSealed: deps.sealSecret(accountId, secret) });
    if (!isSaved) throw new AppError('UNAUTHORIZED', { message: 'Sign in first.' });
    const { url, ...rest } = presentWebhook(webhook);
    res.json({ url, secret, ...rest });
  };

  const remove: RequestHandler = async (_req, res) => {
    if (!(await deps.removeWebhook(sessionOf(res).accountId, deps.now()))) throw notConfigured();
    res.status(204).end();
  };

  return { show, settings, save, remove };
};
