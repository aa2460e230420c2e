"""storagemigration: StorageVersionMigrations."""
