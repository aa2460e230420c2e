"""Certificate requests: approves those of kubelets, signs what is approved, and cleans up.

The CA is the server's own. Must hold: requests of other signers are not touched, except for cleaning.
"""

import base64

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.access import certificate_signers as rules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS

_GROUP = "certificates.k8s.io"


class _OfRequests(Controller):
    """The common part: one user, one resource."""

    account = "certificate-controller"

    def begin(self) -> None:
        self._requests = self.follow(CERTIFICATE_SIGNING_REQUESTS, key_of)


class CertificateSigner(_OfRequests):
    """Issues the certificates of approved requests."""

    name = "certificatesigningrequest-signing-controller"

    async def reconcile(self, key: str) -> float | None:
        request = self._requests.get(key)
        if request is None or not rules.wants_certificate(request):
            return None
        why = rules.refusal(request)
        if why:
            now = self.desk.now()
            await self.client.change(
                CERTIFICATE_SIGNING_REQUESTS.part("status"),
                request,
                lambda present: rules.decide(present, "Failed", "SignerValidationFailure", why, now=now),
            )
            return None
        wanted = base64.b64decode(request["spec"]["request"])
        certificate = self.desk.sign(wanted, request["spec"].get("usages") or (), rules.lifetime(request))

        def issue(present: Object) -> bool:
            if not rules.wants_certificate(present):
                return False
            present["status"]["certificate"] = base64.b64encode(certificate).decode()
            return True

        await self.client.change(CERTIFICATE_SIGNING_REQUESTS.part("status"), request, issue)
        return None


class CertificateApprover(_OfRequests):
    """Approves the client certificates of kubelets whose user may have them."""

    name = "certificatesigningrequest-approving-controller"

    async def reconcile(self, key: str) -> float | None:
        request = self._requests.get(key)
        if request is None or not rules.wants_approval(request):
            return None
        for subresource, message in rules.permissions(request):
            if await self._may(request, subresource):
                await self._approve(request, message)
                return None
        return None

    async def _approve(self, request: Object, message: str) -> None:
        now = self.desk.now()
        await self.client.change(
            CERTIFICATE_SIGNING_REQUESTS.part("approval"),
            request,
            lambda present: rules.decide(present, "Approved", "AutoApproved", message, now=now),
        )

    async def _may(self, request: Object, subresource: str) -> bool:
        spec = request["spec"]
        attributes = {"group": _GROUP, "resource": "certificatesigningrequests", "verb": "create", "version": "*"}
        review: Object = {
            "metadata": {},
            "spec": {
                "user": spec.get("username", ""),
                "uid": spec.get("uid", ""),
                "groups": spec.get("groups") or [],
                "extra": spec.get("extra") or {},
                "resourceAttributes": {**attributes, "subresource": subresource},
            },
        }
        answer = await self.client.ask(SUBJECT_ACCESS_REVIEWS, review)
        return bool(answer["status"].get("allowed"))


class CertificateCleaner(_OfRequests):
    """Deletes requests an hour after the decision, and open ones after a day."""

    name = "certificatesigningrequest-cleaner-controller"

    async def reconcile(self, key: str) -> float | None:
        request = self._requests.get(key)
        if request is None:
            return None
        left = rules.end_of(request) - self.desk.clock.now()
        if left > 0:
            return left
        await self.client.delete(CERTIFICATE_SIGNING_REQUESTS, request)
        return None
