from imlp_audit.audit import audit_targets as audit
from imlp_audit.measure.own import ModelMeasurement
from imlp_audit.measure.own import measure_model as measure
from imlp_audit.records.result import AuditResult

__version__: str
__all__ = ["AuditResult", "ModelMeasurement", "__version__", "audit", "measure"]
