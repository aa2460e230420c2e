"""certificates: CertificateSigningRequests."""
