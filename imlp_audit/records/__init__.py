"""Everything that becomes JSON: frozen records."""
