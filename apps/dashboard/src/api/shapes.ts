import type {
  acceptanceSchema,
  attemptSchema,
  checkEntrySchema,
  checkSchema,
  deliveryDetailSchema,
  deliverySchema,
  presentKey,
  presentSession,
  requestSchema,
  statusSchema,
  usageSchema,
  webhookSchema,
} from '@vat/contracts';
import type { z } from 'zod';

/** What the API answers, from the very schemas that judge it; nothing of them is in the bundle. */
export type Check = z.output<typeof checkSchema>;
export type CheckEntry = z.output<typeof checkEntrySchema>;
export type CheckRequest = z.output<typeof requestSchema>;
export type Acceptance = z.output<typeof acceptanceSchema>;
export type Status = z.output<typeof statusSchema>;
export type MemberStateStatus = Status['member_states'][number];
export type Usage = z.output<typeof usageSchema>;
export type Webhook = z.output<typeof webhookSchema>;
export type Delivery = z.output<typeof deliverySchema>;
export type DeliveryDetail = z.output<typeof deliveryDetailSchema>;
export type Attempt = z.output<typeof attemptSchema>;
export type ApiKey = ReturnType<typeof presentKey>;

export type Session = ReturnType<typeof presentSession>;
export type Frequency = 'weekly' | 'daily';

export type Change = {
  watch_id?: string;
  vat_number?: string;
  label?: string | null;
  kind: 'validity' | 'name' | 'address';
  before: boolean | string | null;
  after: boolean | string | null;
  check_id: string;
  changed_at: string;
};
export type Overview = {
  checks_per_day: { date: string; valid: number; invalid: number; malformed: number }[];
  changes: Change[];
  failed_deliveries: number;
  active_batches: number;
  pending_requests: number;
};
