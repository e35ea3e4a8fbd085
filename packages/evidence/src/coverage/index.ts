export { type CoverageReport, coverageReportPdf } from './coverage-report-pdf.js';
