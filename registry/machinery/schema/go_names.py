"""go_names: the Go types of fields for kube-apiserver's decoding errors, such as `of type v1.PullPolicy`.

OpenAPI knows the structs and calls every named string a string. The tables hold the names of those strings and of the
named maps and lists. A name with a leading dot is in the package of the type with the field (`v1beta1` in
`v1beta1.LeaseSpec`). A field is written `field`, or `Type.field`, or `group.version.Type.field` where less would be
ambiguous.

Must hold: without an entry, the type is that of OpenAPI, so that other minors and types get a sensible name.
"""

from collections.abc import Mapping


def string_type(definition: str, field: str) -> str:
    """The type of a string, or of the strings in a list."""
    _, version, name = definition.rsplit(".", 2)
    if field == "type" and name in _NAMED_AFTER_STRUCT:
        return f"{version}.{name}Type"
    return _find(_STRINGS, definition, field) or "string"


def list_type(definition: str, field: str, elements: str) -> str:
    """The type of a list of these elements."""
    return _find(_LISTS, definition, field) or f"[]{elements}"


def map_type(definition: str, field: str, elements: str) -> str:
    """The type of a map to these elements."""
    named = _find(_MAPS, definition, field)
    if named:
        return named
    key = _find(_MAP_KEYS, definition, field)
    if key:
        return f"map[{key}]{elements}"
    return RESOURCE_LIST if elements == QUANTITY else f"map[string]{elements}"


def value_type(definition: str, field: str) -> str:
    """The type of the strings in a map."""
    return _find(_MAPS, definition, field).partition("]")[2] or "string"


def element_type(definition: str, field: str) -> str:
    """The type of the lists in a map of lists; empty when it has no name of its own."""
    return _find(_LISTS_IN_MAPS, definition, field)


def struct_type(definition: str) -> str:
    """The type of a definition."""
    return ".".join(definition.rsplit(".", 2)[-2:])


QUANTITY = "resource.Quantity"
RESOURCE_LIST = "v1.ResourceList"


def _find(table: Mapping[str, str], definition: str, field: str) -> str:
    group, version, name = definition.rsplit(".", 3)[-3:]
    qualified = f"{name}.{field}"
    found = table.get(f"{group}.{version}.{qualified}") or table.get(qualified) or table.get(field) or ""
    return version + found if found.startswith(".") else found


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _by_field(fields_of_types: Mapping[str, str]) -> dict[str, str]:
    return {field: go_type for go_type, fields in fields_of_types.items() for field in fields.split()}


_NAMED_AFTER_STRUCT = _words(
    """
    APIServiceCondition AppArmorProfile ComponentCondition CustomResourceDefinitionCondition DaemonSetCondition
    DaemonSetUpdateStrategy DeploymentCondition DeploymentStrategy FlowDistinguisherMethod FlowSchemaCondition
    HPAScalingPolicy HorizontalPodAutoscalerCondition JobCondition LimitResponse MetricTarget NamespaceCondition
    NodeAddress NodeCondition PersistentVolumeClaimCondition PodCondition PriorityLevelConfigurationCondition
    ReplicaSetCondition ReplicationControllerCondition SeccompProfile Secret StatefulSetCondition
    StatefulSetUpdateStrategy StorageVersionCondition
    """
)
"""Types whose field `type` is a string of the type `<Type>Type`."""

_STRINGS = _by_field(
    {
        "string": (
            "CertificateSigningRequestSpec.uid IngressClassParametersReference.scope ObjectMeta.finalizers "
            "Status.status SubjectAccessReviewSpec.uid UserInfo.uid"
        ),
        ".AddressType": "addressType",
        ".AllocationConfigSource": "source",
        ".AzureDataDiskCachingMode": "cachingMode",
        ".AzureDataDiskKind": "AzureDiskVolumeSource.kind",
        ".Capability": "add drop",
        ".CauseType": "StatusCause.reason",
        ".CompletionMode": "completionMode",
        ".ConcurrencyPolicy": "concurrencyPolicy",
        ".ConditionStatus": "status",
        ".ContainerRestartPolicy": "restartPolicy",
        ".ContainerRestartRuleAction": "ContainerRestartRule.action",
        ".ContainerRestartRuleOnExitCodesOperator": "ContainerRestartRuleOnExitCodes.operator",
        ".ConversionStrategyType": "CustomResourceConversion.strategy",
        ".CoordinatedLeaseStrategy": "LeaseSpec.strategy",
        ".DeletionPropagation": "propagationPolicy",
        ".DeviceAllocationMode": "allocationMode",
        ".DeviceTaintEffect": "effect",
        ".DeviceTolerationOperator": "operator",
        ".DisruptionMode": "disruptionMode",
        ".DNSPolicy": "dnsPolicy",
        ".FailurePolicyType": "failurePolicy",
        ".FieldSelectorOperator": "FieldSelectorRequirement.operator",
        ".FieldValueErrorReason": "ValidationRule.reason",
        ".FinalizerName": "finalizers",
        ".FSGroupPolicy": "fsGroupPolicy",
        ".FullyQualifiedName": "distinctAttribute matchAttribute",
        ".HostPathType": "HostPathVolumeSource.type",
        ".IPFamily": "ipFamilies",
        ".IPFamilyPolicy": "ipFamilyPolicy",
        ".JSONSchemaURL": "$schema",
        ".KeyUsage": "usages",
        ".LabelSelectorOperator": "LabelSelectorRequirement.operator",
        ".LimitType": "LimitRangeItem.type",
        ".LoadBalancerIPMode": "ipMode",
        ".ManagedFieldsOperationType": "operation",
        ".MatchPolicyType": "matchPolicy",
        ".MetricSourceType": "MetricSpec.type MetricStatus.type",
        ".MountPropagationMode": "mountPropagation",
        ".NamespacePhase": "phase",
        ".NodeInclusionPolicy": "nodeAffinityPolicy nodeTaintsPolicy",
        ".NodePhase": "NodeStatus.phase",
        ".NodeSelectorOperator": "NodeSelectorRequirement.operator",
        ".OperationType": "operations",
        ".OSName": "PodOS.name",
        ".ParameterNotFoundActionType": "parameterNotFoundAction",
        ".PatchType": "patchType",
        ".PathType": "pathType",
        ".PersistentVolumeAccessMode": "accessModes",
        ".PersistentVolumeClaimModifyVolumeStatus": "ModifyVolumeStatus.status",
        ".PersistentVolumeClaimPhase": "PersistentVolumeClaimStatus.phase",
        ".PersistentVolumeClaimRetentionPolicyType": "whenDeleted whenScaled",
        ".PersistentVolumeMode": "volumeMode",
        ".PersistentVolumePhase": "PersistentVolumeStatus.phase",
        ".PersistentVolumeReclaimPolicy": "persistentVolumeReclaimPolicy reclaimPolicy",
        ".PodConditionType": "PodFailurePolicyOnPodConditionsPattern.type conditionType",
        ".PodFailurePolicyAction": "PodFailurePolicyRule.action",
        ".PodFailurePolicyOnExitCodesOperator": "PodFailurePolicyOnExitCodesRequirement.operator",
        ".PodFSGroupChangePolicy": "fsGroupChangePolicy",
        ".PodManagementPolicyType": "podManagementPolicy",
        ".PodPhase": "PodStatus.phase",
        ".PodQOSClass": "qosClass",
        ".PodReplacementPolicy": "podReplacementPolicy",
        ".PodResizeStatus": "resize",
        ".PodSELinuxChangePolicy": "seLinuxChangePolicy",
        ".PolicyType": "policyTypes",
        ".PreemptionPolicy": "preemptionPolicy",
        ".PriorityLevelEnablement": "PriorityLevelConfigurationSpec.type",
        ".ProcMountType": "procMount",
        ".Protocol": "protocol",
        ".PullPolicy": "imagePullPolicy pullPolicy",
        ".QualifiedName": "capacityKey",
        ".RecursiveReadOnlyMode": "recursiveReadOnly",
        ".ReinvocationPolicyType": "reinvocationPolicy",
        ".RequestConditionType": "CertificateSigningRequestCondition.type",
        ".ResourceHealthStatus": "health",
        ".ResourceID": "resourceID",
        ".ResourceName": "ContainerResizePolicy.resourceName ResourceStatus.name",
        ".ResourceQuotaScope": "scopeName scopes",
        ".ResourceResizeRestartPolicy": "ContainerResizePolicy.restartPolicy",
        ".ResourceScope": "CustomResourceDefinitionSpec.scope",
        ".RestartPolicy": "PodSpec.restartPolicy",
        ".ScalingPolicySelect": "selectPolicy",
        ".ScopeSelectorOperator": "ScopedResourceSelectorRequirement.operator",
        ".ScopeType": "scope",
        ".ServiceAffinity": "sessionAffinity",
        ".ServiceExternalTrafficPolicy": "externalTrafficPolicy",
        ".ServiceInternalTrafficPolicy": "internalTrafficPolicy",
        ".ServiceType": "ServiceSpec.type",
        ".SideEffectClass": "sideEffects",
        ".Signal": "stopSignal",
        ".StatusReason": "Status.reason Validation.reason",
        ".StorageMedium": "medium",
        ".SubjectKind": "flowcontrol.v1.Subject.kind",
        ".SupplementalGroupsPolicy": "supplementalGroupsPolicy",
        ".TaintEffect": "Taint.effect Toleration.effect",
        ".TerminationMessagePolicy": "terminationMessagePolicy",
        ".TolerationOperator": "Toleration.operator",
        "types.NodeName": "PodCertificateRequestSpec.nodeName",
        "types.UID": "DeviceRequestAllocationResult.shareID failed nodeUID podUID serviceAccountUID succeeded uid",
        ".UnhealthyPodEvictionPolicyType": "unhealthyPodEvictionPolicy",
        ".UniqueVolumeName": "AttachedVolume.name volumesInUse",
        ".UnsatisfiableConstraintAction": "whenUnsatisfiable",
        ".URIScheme": "scheme",
        "v1.ConditionStatus": "HorizontalPodAutoscalerCondition.status",
        "v1.CoordinatedLeaseStrategy": "strategy",
        "v1.OperationType": "NamedRuleWithOperations.operations",
        "v1.ResourceName": (
            "ContainerResourceMetricSource.name ContainerResourceMetricStatus.name ResourceMetricSource.name "
            "ResourceMetricStatus.name"
        ),
        "v1.ScopeType": "NamedRuleWithOperations.scope",
        ".ValidationAction": "validationActions",
        ".VolumeBindingMode": "volumeBindingMode",
        ".VolumeLifecycleMode": "volumeLifecycleModes",
    }
)

_LISTS = {
    "APIResource.verbs": ".Verbs",
    "x-kubernetes-validations": ".ValidationRules",
}

_LISTS_IN_MAPS = {"extra": ".ExtraValue"}

_MAPS = {
    "JSONSchemaProps.definitions": ".JSONSchemaDefinitions",
    "JSONSchemaProps.dependencies": ".JSONSchemaDependencies",
    "allocatedResourceStatuses": "map[v1.ResourceName]v1.ClaimResourceStatus",
}

_MAP_KEYS = {
    "BasicDevice.attributes": ".QualifiedName",
    "BasicDevice.capacity": ".QualifiedName",
    "CapacityRequirements.requests": ".QualifiedName",
    "Device.attributes": ".QualifiedName",
    "Device.capacity": ".QualifiedName",
    "DeviceRequestAllocationResult.consumedCapacity": ".QualifiedName",
    "NodeAllocatableResourceClaimStatus.resources": "v1.ResourceName",
    "nodeAllocatableResourceMappings": "v1.ResourceName",
}
"""Maps whose keys are named strings."""
