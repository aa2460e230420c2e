"""Presence: whether kube-apiserver prints a field without a value; OpenAPI does not describe this of the Go structs.

There are two facts about a field. Is it a pointer, so that a missing value differs from the zero value (`replicas: 0`
is printed, `minReadySeconds: 0` is not)? Is it printed when empty, or left out? OpenAPI answers half of the
second: a required field is printed. The exceptions stand with the types, in the types.json of their groups
(registry/base/type_facts.py).

Must hold: the rules also serve minors and types that the tables do not have. So they go by the name of a field, and
name a type for an exception.
"""

from aio_apiserver.registry.base import type_facts


def is_pointer(definition: str, field: str) -> bool:
    """Whether a missing value differs from the zero value. Has no meaning for lists, maps and bytes."""
    return type_facts.of_type(definition).pointers.get(field, field in _POINTERS)


def is_printed(definition: str, field: str, *, is_required: bool, minor: str = "") -> bool:
    """Whether the field is printed when it is empty: JSON without `omitempty`."""
    return type_facts.of_type(definition, minor).printed.get(field, is_required)


def hides_zero_struct(definition: str, field: str) -> bool:
    """Whether a struct that is not a pointer is left out when it is zero: JSON with `omitzero`."""
    return field in type_facts.of_type(definition).hidden_when_zero


def keeps_empty(definition: str, field: str) -> bool:
    """Whether an empty list stays empty instead of null: types without protobuf, whose encoding does not distinguish
    them.
    """
    is_list = field == "items" and definition.endswith("List")
    return is_list or definition.startswith(_WITHOUT_PROTOBUF)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WITHOUT_PROTOBUF = (
    "io.k8s.api.authentication.",
    "io.k8s.api.authorization.",
    "io.k8s.apiextensions-apiserver.",
    "io.k8s.kube-aggregator.",
)
"""Reviews that are never stored, and types that are stored as JSON."""

_POINTERS = _words(
    """
    $ref acquireTime activeDeadlineSeconds additionalItems additionalProperties adminAccess affinity aggregationRule
    allNodes allocatable allocateLoadBalancerNodePorts allocatedDevices allocation allocationMultiplier
    allocationTimestamp allowMultipleAllocations allowPrivilegeEscalation allowVolumeExpansion appArmorProfile
    appProtocol applyConfiguration assigned attachError attachRequired automountServiceAccountToken availableDevices
    averageUtilization averageValue awsElasticBlockStore azureDisk azureFile backoffLimit backoffLimitPerIndex basic
    beginRefreshAt behavior bindsToNode blockOwnerDeletion bool borrowingLimitPercent boundObjectRef cachingMode
    capabilities capacity capacityKey capacityMultiplier cel cephfs cinder claimRef clientIP clusterTrustBundle
    collisionCount commonEncodingVersion completionMode completionTime completions config configMap configMapKeyRef
    configMapRef configSource containerResource controllerExpandSecretRef controllerPublishSecretRef controllerRef
    conversion csi currentCPUUtilizationPercentage currentVolumeAttributesClassName data dataSource dataSourceRef
    default defaultBackend defaultMode defaultPartitionTypeAttribute defaultUser deleteOptions
    deletionGracePeriodSeconds deletionTimestamp deprecationWarning detachError details deviceMultiplier
    deviceSelector disruptionMode distinctAttribute distinguisherMethod dnsConfig downwardAPI emptyDir
    enableServiceLinks endPort endpointsNamespace ephemeral errorCode exactly example exec exempt exitCodes
    expirationSeconds extendedResourceClaimStatus extendedResourceName external externalDocs failedIndexes
    failedJobsHistoryLimit failurePolicy fc features fieldRef fieldSelector fieldsV1 fileKeyRef flexVolume flocker
    fsGroup fsGroupChangePolicy fsGroupPolicy gang gcePersistentDisk gitRepo glusterfs gmsaCredentialSpec
    gmsaCredentialSpecName gracePeriodSeconds grpc healthStatus hints holderIdentity hostPath hostProcess hostUsers
    hostnameOverride http httpGet ignoreStoreReadErrorWithClusterBreakingPotential immutable ingressClassName
    initiatorName inlineVolumeSpec int internalTrafficPolicy ipBlock ipFamilyPolicy ipMode iscsi items jsonPatch
    labelSelector labelSelectorPath lastKnownGood lastPhaseTransitionTime lastScaleTime lastScheduleTime
    lastSuccessfulTime leaseDurationSeconds leaseTransitions lendablePercent lifecycle limit limited linux
    livenessProbe loadBalancerClass local localhostProfile managedBy manualSelector matchAttribute matchConstraints
    matchPolicy matchResources max maxExpirationSeconds maxFailedIndexes maxItems maxLength maxProperties maxSurge
    maxUnavailable maximum maximumVolumeSize min minAvailable minDomains minItems minLength minProperties
    minReplicas minimum mode modifyVolumeStatus mountPropagation multipleOf namespaceSelector networkData nfs
    nodeAffinity nodeAffinityPolicy nodeAllocatableUpdatePeriodSeconds nodeExpandSecretRef nodeName
    nodePublishSecretRef nodeSelector nodeStageSecretRef nodeTaintsPolicy nodeTopology nominalConcurrencyShares
    nonResourceAttributes not notAfter notBefore object objectSelector onExitCodes opaque openAPIV3Schema optional
    optionalOldSelf ordinals orphanDependents os overhead parallelism paramKind paramRef parameterNotFoundAction
    parentCompositePodGroupName parentRef partitionTypeAttribute pathType perContainer perDeviceNodeSelection perPod
    persistentVolumeClaim persistentVolumeClaimRetentionPolicy persistentVolumeName photonPersistentDisk pingTime
    podAffinity podAntiAffinity podCertificate podFailurePolicy podGroupName podGroupTemplateRef podInfoOnMount
    podPreemptionPolicy podReplacementPolicy pods poolCount portworxVolume postStart preStop preconditions
    preemptionPolicy preferredHolder preventPodSchedulingIfMissing priority privileged procMount
    progressDeadlineSeconds projected propagationPolicy quantity queuing quobyte rbd readOnlyRootFilesystem
    readinessProbe ready reclaimPolicy recursiveReadOnly recursiveReadOnlyMounts related remainingItemCount
    renewTime requestPolicy required requiredDuringSchedulingIgnoredDuringExecution requiresRepublish
    resourceAttributes resourceClaimName resourceClaimTemplateName resourceFieldRef responseKind
    revisionHistoryLimit rollingUpdate runAsGroup runAsNonRoot runAsUser runAsUserName running
    runningInUserNamespace runtimeClassName scale scaleDown scaleIO scaleUp scheduling schedulingConstraints
    schedulingGroup schedulingPolicy schema scope scopeSelector seLinuxChangePolicy seLinuxMount seLinuxOptions
    seccompProfile secret secretKeyRef secretNamespace secretRef securityContext selectPolicy selector series
    service serviceAccountToken serviceAccountTokenInSecrets serving sessionAffinityConfig setHostnameAsFQDN
    shardInfo shareID shareProcessNamespace shareableSummary sideEffects sizeLimit sleep stabilizationWindowSeconds
    startTime started startingDeadlineSeconds startupProbe step stopSignal storageCapacity storageos string
    subresources succeededCount succeededIndexes successPolicy successfulJobsHistoryLimit supplementalGroupsPolicy
    suspend swap targetCPUUtilizationPercentage targetRef tcpSocket terminated terminating terminatingReplicas
    terminationGracePeriodSeconds timeAdded timeZone timeoutSeconds tolerance tolerationSeconds totalDevices
    trafficDistribution ttlSecondsAfterFinished typeChecking unavailableDevices uncountedTerminatedPods
    unhealthyPodEvictionPolicy url userNamespaces validRange validationError valueFrom volumeAttributesClassName
    volumeBindingMode volumeClaimTemplate volumeMode volumeStatus vsphereVolume waiting webhook windowsOptions
    workload workloadRef x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-preserve-unknown-fields zone
    """
)
"""Fields that are pointers in most of the types that have them."""
