import type {
  acceptanceSchema,
  anchorProofSchema,
  anchorSchema,
  attemptSchema,
  batchLineSchema,
  batchSchema,
  changeSchema,
  checkEntrySchema,
  checkLinkSchema,
  checkSchema,
  coverageLineSchema,
  coverageSchema,
  deliveryDetailSchema,
  deliverySchema,
  presentKey,
  presentOverview,
  presentSession,
  publicVerificationSchema,
  requestSchema,
  statusSchema,
  usageSchema,
  watchSchema,
  webhookSchema,
} from '@vat/contracts';
import type { z } from 'zod';

// Response types, derived from the schemas of the API. The schemas themselves are not part of the bundle.
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
export type Batch = z.output<typeof batchSchema>;
export type BatchLine = z.output<typeof batchLineSchema>;
export type Coverage = z.output<typeof coverageSchema>;
export type CoverageLine = z.output<typeof coverageLineSchema>;
export type Watch = z.output<typeof watchSchema>;
export type Frequency = Watch['frequency'];
/** A change of a watch. On the overview it also names the watch. */
export type Change = z.output<typeof changeSchema> & Partial<Pick<Watch, 'watch_id' | 'vat_number' | 'label'>>;

export type Overview = ReturnType<typeof presentOverview>;

/** An anchor: the seven hashed keys and its id. */
export type Anchor = z.output<typeof anchorSchema>;
/** The position of a check in the tree of an anchor, and the path to the root. */
export type InclusionProof = z.output<typeof anchorProofSchema>;
/** The data of a public link. */
export type PublicVerification = z.output<typeof publicVerificationSchema>;
export type CheckLink = z.output<typeof checkLinkSchema>;
