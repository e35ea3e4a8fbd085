import { type Batch, type BatchLine, publicId } from '@vat/domain';

/** The batch object. Source: contract part 2 §5. */
export const presentBatch = (batch: Batch) => ({
  batch_id: publicId('batch', batch.id),
  object: 'batch' as const,
  status: batch.status,
  label: batch.label,
  file_name: batch.fileName,
  total: batch.total,
  done: batch.done,
  failed: batch.failed,
  valid: batch.valid,
  invalid: batch.invalid,
  created_at: batch.createdAt.toISOString(),
  completed_at: batch.completedAt?.toISOString() ?? null,
});

/** A line of a batch. */
export const presentBatchLine = (line: BatchLine) => ({
  line_id: publicId('line', line.id),
  line: line.line,
  status: line.status,
  input: line.input,
  vat_number: line.vatNumber,
  reference: line.reference,
  check_id: line.checkId && publicId('check', line.checkId),
  error: line.error && { code: line.error.code, message: line.error.message },
});
