import { PLANS, type Plan } from '@vat/domain';
import { z } from 'zod';
import { instant } from './instant.js';

/** GET /v1/usage. */
export const usageSchema = z
  .strictObject({
    period: z
      .string()
      .regex(/^\d{4}-\d{2}$/)
      .describe('UTC calendar month.'),
    plan: z.enum(Object.keys(PLANS) as [Plan, ...Plan[]]),
    limit: z.int().min(0),
    used: z.int().min(0).describe('Units consumed by recorded verdicts.'),
    reserved: z.int().min(0).describe('Units held for work in hand.'),
    reset_at: instant(),
  })
  .meta({ id: 'Usage', description: 'Checks of the current month.' });
